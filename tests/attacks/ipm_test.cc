#include "boba/attacks/ipm.h"

#include <gtest/gtest.h>

#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

template <class T>
class IpmTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(IpmTest, Types);

TYPED_TEST(IpmTest, SendsTheNegatedMeanTenfold) {
  using T = TypeParam;
  const AttackRows<T> honest({{1, 2, -4}, {3, 2, 0}});
  const auto forged = forge("ipm", honest, 2);
  ASSERT_TRUE(forged.ok) << forged.error.message;
  EXPECT_EQ(forged.rows[0], (std::vector<T>{-20, -20, 20}));
  EXPECT_EQ(forged.rows[1], forged.rows[0]);
  EXPECT_EQ(forged.measure("gamma"), 10);
}

TYPED_TEST(IpmTest, AgreesWithTheFormula) {
  const auto rows = random_rows<TypeParam>(7, 129, 3);
  const AttackRows<TypeParam> honest(rows);
  const auto forged = forge("ipm(gamma=0.5)", honest, 1);
  const std::vector<double> mean = mean_of(rows);
  for (std::size_t k = 0; k < mean.size(); ++k) {
    EXPECT_NEAR(forged.rows[0][k], -0.5 * mean[k], tolerance<TypeParam>(mean[k]));
  }
}

TEST(Ipm, WithoutGammaSendsZeros) {
  const AttackRows<double> honest({{1, 2}, {3, 4}});
  EXPECT_EQ(forge("ipm(gamma=0)", honest, 1).rows[0], (std::vector<double>{0, 0}));
}

TEST(Ipm, OverflowIsSentAndReported) {
  const AttackRows<float> honest({{3e38F, 1}, {3e38F, 1}});
  const auto forged = forge("ipm", honest, 1);
  ASSERT_TRUE(forged.ok);
  EXPECT_EQ(forged.measure("overflow"), 1);
  EXPECT_FALSE(std::isfinite(forged.rows[0][0]));
  EXPECT_EQ(forged.rows[0][1], -10);
}

}  // namespace
}  // namespace boba::testing
