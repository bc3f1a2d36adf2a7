// minmax and minsum.
#include "boba/attacks/deviation.h"

#include <gtest/gtest.h>

#include "boba/attacks/minmax.h"
#include "boba/attacks/minsum.h"
#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

constexpr double kTau = 1e-5;

// The definitions in d-space, in double.
template <class T>
struct Oracle {
  std::vector<std::vector<T>> rows;
  bool sums = false;
  double sign = -1;

  std::vector<double> at(double gamma) const {
    std::vector<double> x = mean_of(rows);
    const std::vector<double> deviation = deviation_of(rows);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += sign * gamma * deviation[k];
    return x;
  }
  double gather(const std::vector<double>& distances) const {
    double most = 0;
    double sum = 0;
    for (double distance : distances) {
      most = std::max(most, distance);
      sum += distance;
    }
    return sums ? sum : most;
  }
  template <class U>
  double reached(const std::vector<U>& x) const {
    std::vector<double> distances;
    for (const auto& row : rows) distances.push_back(sq_distance(x, row));
    return gather(distances);
  }
  double allowed() const {
    double most = 0;
    for (const auto& row : rows) most = std::max(most, reached(row));
    return most;
  }
  double search(double gamma_init, double tau) const {
    const double bound = allowed();
    double gamma = gamma_init;
    double step = gamma / 2;
    double best = 0;
    while (std::abs(gamma - best) > tau) {
      if (reached(at(gamma)) <= bound) {
        best = gamma;
        gamma += step;
      } else {
        gamma -= step;
      }
      step /= 2;
    }
    return best;
  }
};

template <class T>
class DeviationTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DeviationTest, Types);

TYPED_TEST(DeviationTest, TwoPointsOnALine) {
  // Mean 1, deviation sqrt 2. minmax: 1 + gamma sqrt 2 <= 2. minsum: 2 + 4 gamma^2 <= 4.
  const AttackRows<TypeParam> honest({{0}, {2}});
  for (const char* spec : {"minmax", "minsum"}) {
    const auto forged = forge(spec, honest, 2);
    ASSERT_TRUE(forged.ok) << forged.error.message;
    EXPECT_LE(forged.measure("gamma"), std::sqrt(0.5) + 1e-7) << spec;
    EXPECT_GE(forged.measure("gamma"), std::sqrt(0.5) - 2 * kTau) << spec;
    EXPECT_NEAR(forged.rows[0][0], 0, 3 * kTau) << spec;
    EXPECT_EQ(forged.rows[1], forged.rows[0]);
    EXPECT_EQ(forged.measure("allowed"), 4) << spec;
  }
  EXPECT_NEAR(forge("minmax(sign=plus)", honest, 1).rows[0][0], 2, 3 * kTau);
}

TYPED_TEST(DeviationTest, ThreePointsOnALine) {
  // Mean 2, deviation 2, sums of squares 20, 8, 20. minsum: 8 + 12 gamma^2 <= 20, gamma = 1.
  // minmax: 2 + 2 gamma <= 4, gamma = 1.
  const AttackRows<TypeParam> honest({{0}, {2}, {4}});
  for (const char* spec : {"minmax", "minsum"}) {
    const auto forged = forge(spec, honest, 1);
    EXPECT_NEAR(forged.measure("gamma"), 1, 2 * kTau) << spec;
    EXPECT_NEAR(forged.rows[0][0], 0, 4 * kTau) << spec;
  }
  EXPECT_EQ(forge("minsum", honest, 1).measure("allowed"), 20);
}

TYPED_TEST(DeviationTest, KeepsTheInequalityAndIsMaximal) {
  using T = TypeParam;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::size_t h = 2 + seed % 7;
    const auto rows = random_rows<T>(h, 60, seed);
    const AttackRows<T> honest(rows);
    for (const bool sums : {false, true}) {
      for (const bool plus : {false, true}) {
        const Oracle<T> oracle{rows, sums, plus ? 1.0 : -1.0};
        const std::string spec =
            std::string(sums ? "minsum" : "minmax") + (plus ? "(sign=plus)" : "");
        const auto forged = forge(spec, honest, 1);
        ASSERT_TRUE(forged.ok) << forged.error.message;
        const double gamma = forged.measure("gamma");
        const double bound = oracle.allowed();
        EXPECT_NEAR(gamma, oracle.search(10, kTau), 3 * kTau) << spec << ", seed " << seed;
        EXPECT_LE(oracle.reached(forged.rows[0]), bound * (1 + 1e-6)) << spec;
        EXPECT_GT(oracle.reached(oracle.at(gamma + 3 * kTau)), bound) << spec;
        EXPECT_NEAR(forged.measure("allowed"), bound, 1e-5 * bound);
        EXPECT_NEAR(forged.measure("reached"), oracle.reached(forged.rows[0]), 1e-5 * bound);
        const std::vector<double> x = oracle.at(gamma);
        for (std::size_t k = 0; k < x.size(); ++k) {
          EXPECT_NEAR(forged.rows[0][k], x[k], tolerance<T>(x[k]));
        }
      }
    }
  }
}

TYPED_TEST(DeviationTest, ACommonComponentDoesNotMatter) {
  using T = TypeParam;
  auto rows = random_rows<T>(6, 80, 5);
  for (auto& row : rows) {
    for (T& x : row) x = std::round(x * 16) / 16;
  }
  auto moved = rows;
  for (auto& row : moved) {
    for (T& x : row) x += 1024;
  }
  const AttackRows<T> near(rows);
  const AttackRows<T> far(moved);
  for (const char* spec : {"minmax", "minsum"}) {
    EXPECT_NEAR(forge(spec, near, 1).measure("gamma"), forge(spec, far, 1).measure("gamma"), 1e-3)
        << spec;
  }
}

TEST(Deviation, TheSearchFollowsItsPath) {
  // One coordinate, |x - g| <= 1 - or rather x = -gamma: the bound is gamma <= 3.2 exactly.
  DeviationSpace space;
  space.from_mean = {0};
  space.along = {0};
  space.deviation_sq = 1;
  space.widest_pair = 3.2 * 3.2;
  // 10 no, 5 no, 2.5 yes, 3.75 no, 3.125 yes, 3.4375 no, ... ends within tau.
  EXPECT_EQ(search_gamma(space, {.gamma_init = 10, .tau = 0.5}), 3.125);
  EXPECT_EQ(search_gamma(space, {.gamma_init = 10, .tau = 1}), 2.5);
  EXPECT_NEAR(search_gamma(space, {}), 3.2, 2e-5);
  // Where the bound always holds the steps add up to twice the beginning.
  space.widest_pair = 1e9;
  EXPECT_NEAR(search_gamma(space, {}), 20, 2e-5);
  // Where it never holds the search ends at the mean.
  space.widest_pair = -1;
  EXPECT_EQ(search_gamma(space, {}), 0);
  // Finer than numbers are: it still ends.
  space.widest_pair = 1e18;
  EXPECT_NEAR(search_gamma(space, {.gamma_init = 9e8, .tau = 1e-12}), 1e9, 1e-6);
}

TEST(Deviation, EqualUpdatesAndASingleOneGiveTheirMean) {
  const AttackRows<float> one({{1.5F, -2}});
  const AttackRows<float> equal({{0.1F, 3}, {0.1F, 3}, {0.1F, 3}});
  for (const char* spec : {"minmax", "minsum"}) {
    EXPECT_EQ(forge(spec, one, 2).rows[1], one.rows[0]);
    EXPECT_EQ(forge(spec, equal, 1).rows[0], equal.rows[0]);
    EXPECT_EQ(forge(spec, equal, 1).measure("gamma"), 0);
  }
}

TEST(Deviation, RefusesWhatLeavesTheRange) {
  const AttackRows<double> large({{1e200, 0}, {-1e200, 0}});
  EXPECT_EQ(forge("minmax", large, 1).error.message,
            "minmax: distances between the honest updates leave the range of float64");
  const AttackRows<float> wide({{3e38F, 0}, {-3e38F, 0}});
  EXPECT_EQ(forge("minsum", wide, 1).error.message,
            "minsum: distances between the honest updates leave the range of float32");
}

}  // namespace
}  // namespace boba::testing
