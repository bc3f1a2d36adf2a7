#include "boba/attacks/lie.h"

#include <gtest/gtest.h>

#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

template <class T>
class LieTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LieTest, Types);

TYPED_TEST(LieTest, ShiftsTheMeanByStandardDeviations) {
  using T = TypeParam;
  // Means 2 and 1, standard deviations 2 and 0.
  const AttackRows<T> honest({{0, 1}, {2, 1}, {4, 1}});
  const auto minus = forge("lie(z=3)", honest, 2);
  ASSERT_TRUE(minus.ok) << minus.error.message;
  EXPECT_EQ(minus.rows[0], (std::vector<T>{-4, 1}));
  EXPECT_EQ(minus.rows[1], minus.rows[0]);
  EXPECT_EQ(minus.measure("z"), 3);
  EXPECT_EQ(forge("lie(z=3,sign=plus)", honest, 1).rows[0], (std::vector<T>{8, 1}));
}

TYPED_TEST(LieTest, AgreesWithTheFormula) {
  const auto rows = random_rows<TypeParam>(20, 65, 4);
  const AttackRows<TypeParam> honest(rows);
  const auto forged = forge("lie", honest, 9);
  ASSERT_TRUE(forged.ok) << forged.error.message;
  // n = 29, floor(n/2 + 1) = 15: the quantile of 14/20.
  EXPECT_NEAR(forged.measure("z"), 0.5244005127080407, 1e-14);
  const std::vector<double> mean = mean_of(rows);
  const std::vector<double> deviation = deviation_of(rows);
  for (std::size_t k = 0; k < mean.size(); ++k) {
    EXPECT_NEAR(forged.rows[8][k], mean[k] - 0.5244005127080407 * deviation[k],
                tolerance<TypeParam>(mean[k]));
  }
}

TEST(Lie, KnownQuantiles) {
  EXPECT_NEAR(*lie_z(26, 24), 1.4260768722728479, 1e-13);   // 24/26
  EXPECT_NEAR(*lie_z(100, 15), 0.1763741647808612, 1e-13);  // 57/100
  EXPECT_NEAR(*lie_z(160, 54), 0.419295753041396, 1e-13);   // 106/160
  EXPECT_NEAR(*lie_z(3, 1), -0.43072729929545756, 1e-13);   // 1/3: below the mean's other side
  EXPECT_EQ(*lie_z(2, 1), 0);                               // 1/2
}

TEST(Lie, NeedsAQuantile) {
  const AttackRows<double> honest({{1, 2}, {3, 4}, {5, 6}});
  const auto forged = forge("lie", honest, 5);
  ASSERT_FALSE(forged.ok);
  EXPECT_EQ(forged.error.message,
            "lie needs 0 < (n - floor(n/2 + 1)) / (n - b) < 1; got (8 - 5) / (8 - 5) with 3 "
            "honest clients; give z yourself");
  EXPECT_TRUE(forge("lie(z=1)", honest, 5).ok);
  EXPECT_FALSE(lie_z(1, 1));  // 0/1
  EXPECT_FALSE(lie_z(1, 0));
  EXPECT_FALSE(lie_z(0, 4));
  EXPECT_FALSE(lie_z(2, 9));
  // The definition exists exactly up to a minority, and half of an even number.
  for (std::size_t h = 2; h < 40; ++h) {
    for (std::size_t b = 1; b < 60; ++b) EXPECT_EQ(lie_z(h, b).ok(), b <= (h + b) / 2) << h << b;
  }
}

TEST(Lie, OneHonestClientHasNoDeviation) {
  const AttackRows<float> honest({{1.5F, -2}});
  EXPECT_EQ(forge("lie(z=4)", honest, 1).rows[0], honest.rows[0]);
}

}  // namespace
}  // namespace boba::testing
