// signflip, zero, nan, inf.
#include <gtest/gtest.h>

#include "boba/attacks/constant.h"
#include "boba/attacks/signflip.h"
#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

template <class T>
class ConstantTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ConstantTest, Types);

TYPED_TEST(ConstantTest, SignflipNegatesTheHonestClientInWhosePlaceItStands) {
  using T = TypeParam;
  const AttackRows<T> honest({{1, -2}, {3, 4}});
  const auto forged = forge("signflip(scale=2)", honest, 3);
  ASSERT_TRUE(forged.ok) << forged.error.message;
  EXPECT_EQ(forged.rows[0], (std::vector<T>{-2, 4}));
  EXPECT_EQ(forged.rows[1], (std::vector<T>{-6, -8}));
  EXPECT_EQ(forged.rows[2], forged.rows[0]);
  EXPECT_EQ(forge("signflip", honest, 1).rows[0], (std::vector<T>{-1, 2}));
}

TYPED_TEST(ConstantTest, SignflipOfTheMeanIsTheSameForAll) {
  using T = TypeParam;
  const AttackRows<T> honest({{1, -2}, {3, 4}});
  const auto forged = forge("signflip(scale=2,of=mean)", honest, 2);
  ASSERT_TRUE(forged.ok) << forged.error.message;
  EXPECT_EQ(forged.rows[0], (std::vector<T>{-4, -2}));
  EXPECT_EQ(forged.rows[1], forged.rows[0]);
}

TYPED_TEST(ConstantTest, ZeroNanAndInfFillTheirRows) {
  using T = TypeParam;
  const AttackRows<T> honest({{1, -2}, {3, 4}});
  const auto zero = forge("zero", honest, 2);
  EXPECT_EQ(zero.rows[1], (std::vector<T>{0, 0}));
  const auto inf = forge("inf", honest, 2);
  EXPECT_EQ(inf.rows[1], (std::vector<T>(2, std::numeric_limits<T>::infinity())));
  const auto nan = forge("nan", honest, 2);
  ASSERT_TRUE(nan.ok);
  for (T x : nan.rows[1]) EXPECT_TRUE(std::isnan(x));
}

TEST(Constant, NeedNoHonestClient) {
  const Result<NamedAttack> made[] = {make_zero({}), make_nan({}), make_inf({})};
  for (const auto& attack : made) {
    ASSERT_TRUE(attack);
    EXPECT_TRUE(forge<double>(*attack->attack, *make_reference_kernels(), {}, 1, 3).ok);
  }
}

}  // namespace
}  // namespace boba::testing
