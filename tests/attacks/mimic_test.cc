#include "boba/attacks/mimic.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

template <class T>
class MimicTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MimicTest, Types);

TYPED_TEST(MimicTest, CopiesTheClientGiven) {
  const AttackRows<TypeParam> honest(random_rows<TypeParam>(5, 40, 2));
  const auto forged = forge("mimic(client=3)", honest, 2);
  ASSERT_TRUE(forged.ok) << forged.error.message;
  EXPECT_EQ(forged.rows[0], honest.rows[3]);
  EXPECT_EQ(forged.rows[1], honest.rows[3]);
  EXPECT_EQ(forged.measure("client"), 3);
  EXPECT_EQ(forge("mimic", honest, 1).rows[0], honest.rows[0]);
}

TYPED_TEST(MimicTest, StrongestIsFurthestAlongTheTopDirection) {
  using T = TypeParam;
  // All far from zero; the spread is along the first coordinate, where the mean is 101.
  const AttackRows<T> honest({{100, 7}, {101, 9}, {99, 5}, {106, 7}, {99, 7}});
  const auto forged = forge("mimic(choose=strongest)", honest, 1);
  ASSERT_TRUE(forged.ok) << forged.error.message;
  EXPECT_EQ(forged.measure("client"), 3);
  EXPECT_EQ(forged.rows[0], honest.rows[3]);
}

TYPED_TEST(MimicTest, StrongestAgreesWithTheDecompositionOfTheMatrix) {
  constexpr Eigen::Index kRows = 9;
  constexpr Eigen::Index kLength = 50;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const AttackRows<TypeParam> honest(random_rows<TypeParam>(kRows, kLength, seed));
    Eigen::MatrixXd a(kRows, kLength);
    for (Eigen::Index i = 0; i < kRows; ++i) {
      for (Eigen::Index k = 0; k < kLength; ++k) {
        a(i, k) = static_cast<double>(
            honest.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)]);
      }
    }
    a.rowwise() -= a.colwise().mean().eval();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(a, Eigen::ComputeThinV);
    const Eigen::VectorXd projections = (a * svd.matrixV().col(0)).array().square();
    Eigen::Index best = 0;
    const double most = projections.maxCoeff(&best);

    const auto forged = forge("mimic(choose=strongest)", honest, 1);
    ASSERT_TRUE(forged.ok) << forged.error.message;
    EXPECT_EQ(forged.measure("client"), static_cast<double>(best)) << "seed " << seed;
    EXPECT_NEAR(forged.measure("projection"), most, 1e-5 * most);
  }
}

TEST(Mimic, TiesGoToTheLowerIndex) {
  // Two rows are equally far from their mean, and equal rows have no direction at all.
  const AttackRows<double> two({{0.1, 0.7, 0.3}, {0.9, 0.2, 0.4}});
  EXPECT_EQ(forge("mimic(choose=strongest)", two, 1).measure("client"), 0);
  const AttackRows<double> equal({{1, 2}, {1, 2}, {1, 2}});
  EXPECT_EQ(forge("mimic(choose=strongest)", equal, 1).measure("client"), 0);
  const AttackRows<double> one({{1, 2}});
  EXPECT_EQ(forge("mimic(choose=strongest)", one, 1).rows[0], one.rows[0]);
}

TEST(Mimic, TheClientMustBeThere) {
  const AttackRows<double> honest({{1, 2}, {3, 4}});
  EXPECT_EQ(forge("mimic(client=2)", honest, 1).error.message,
            "mimic: no honest client 2; the honest ones are 0..1");
  EXPECT_TRUE(forge("mimic(client=2,choose=strongest)", honest, 1).ok);
}

TEST(Mimic, LooksOnlyAtTheClientItCopies) {
  const double nan = std::nan("");
  const AttackRows<double> honest({{1, 2}, {nan, 4}});
  EXPECT_EQ(forge("mimic", honest, 1).rows[0], honest.rows[0]);
  EXPECT_FALSE(forge("mimic(client=1)", honest, 1).ok);
  EXPECT_FALSE(forge("mimic(choose=strongest)", honest, 1).ok);
}

}  // namespace
}  // namespace boba::testing
