// Theorem 5.5: the error of boba against its bound, and how the error grows with epsilon, beta and
// delta. The bound is loose, so it is the growth that can fail.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/theory_rounds.h"

namespace boba::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Mean squared error of a rule over seeds.
double error(const std::string& rule, TheoryOptions o, const std::string& attack, int b,
             int seeds = 20) {
  double sum = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    o.seed = static_cast<std::uint64_t>(seed);
    const TheoryRound round = make_theory(o);
    const VectorXd out = outcome_of(rule, attacked(round, attack, b), round.server).out;
    sum += (out - round.mean()).squaredNorm();
  }
  return sum / seeds;
}

struct Bound {
  double value = 0;
  double sigma = 0;
};

Bound theorem(const TheoryOptions& o, int b, int f, double p_min) {
  const TheoryRound round = make_theory(o);
  const int n = o.honest + b;
  const int c = o.classes;
  const double sigma = sigma_of_subsets(round.expected, n - 2 * f, c - 1);
  const Eigen::RowVectorXd mean = round.mean().transpose();
  const double delta2 = (round.expected.rowwise() - mean).rowwise().squaredNorm().maxCoeff();
  const double delta_s2 = (round.corners.rowwise() - mean).rowwise().squaredNorm().maxCoeff();
  const double beta = static_cast<double>(b) / n;
  const double spread = 1.0 / (n - 2 * f) + delta2 / (sigma * sigma);
  const double region = std::pow(1 + c * std::abs(p_min), 2);
  const double c1 = 4 + 8 * spread * (2 * (n - f) + o.honest);
  const double c2 = 16 * spread * (n - f) + 16 * c * region * beta * beta;
  const double c3 = 16 * region;
  return {c1 * o.epsilon * o.epsilon + c2 * o.epsilon_s * o.epsilon_s + c3 * beta * beta * delta_s2,
          sigma};
}

TEST(Theorem55, TheErrorKeepsItsBound) {
  constexpr int kF = 3;
  for (double epsilon : {0.01, 0.1}) {
    const TheoryOptions o{.honest = 14, .epsilon = epsilon, .epsilon_s = epsilon, .size = 2};
    for (const int b : {0, 3}) {
      const Bound bound = theorem(o, b, kF, -0.5);
      fmt::print("epsilon {}, n={}, f={}: sigma {:.3f}\n", epsilon, o.honest + b, kF, bound.sigma);
      ASSERT_GT(bound.sigma, epsilon);
      const std::vector<std::string> attacks =
          b == 0 ? std::vector<std::string>{"none"}
                 : std::vector<std::string>{"ipm", "gauss(sigma=3)", "mimic", "lie", "simplex"};
      for (const std::string& attack : attacks) {
        const double found = error("boba(f=3)", o, attack, b);
        fmt::print("{:>14}: error^2 {:.3e}, bound {:.3e}, ratio {:.1e}\n", attack, found,
                   bound.value, found / bound.value);
        EXPECT_LE(found, bound.value) << attack;
        EXPECT_GT(found, 0) << attack;
      }
    }
  }
}

// Without attackers the error is that of the noise, and delta does not enter.
TEST(Theorem55, GrowsWithTheSquareOfEpsilonAndNotWithDelta) {
  std::vector<double> epsilons, errors;
  for (double epsilon : {0.001, 0.01, 0.1}) {
    epsilons.push_back(epsilon);
    errors.push_back(error("boba(f=3)", {.epsilon = epsilon, .epsilon_s = epsilon}, "none", 0));
  }
  EXPECT_NEAR(slope(epsilons, errors), 2, 0.1);

  const double small = error("boba(f=3)", {.size = 1}, "none", 0);
  const double large = error("boba(f=3)", {.size = 100}, "none", 0);
  EXPECT_NEAR(large / small, 1, 0.2);
  const double krum_small = error("krum(f=3)", {.size = 1}, "none", 0);
  const double krum_large = error("krum(f=3)", {.size = 100}, "none", 0);
  EXPECT_GT(krum_large, 1000 * krum_small);
  fmt::print("delta x 100: boba's error^2 x {:.2f}, krum's x {:.0f}\n", large / small,
             krum_large / krum_small);
}

// From noise that hardly counts to noise of a tenth of the class gradients.
TEST(Theorem55, TheErrorGrowsWithEpsilonBelowTheBound) {
  double last = 0;
  for (double epsilon : {0.001, 0.003, 0.01, 0.03, 0.1}) {
    const TheoryOptions o{.honest = 14, .epsilon = epsilon, .epsilon_s = epsilon, .size = 2};
    const double quiet = error("boba(f=3)", o, "none", 0);
    const double worst = error("boba(f=3)", o, "simplex", 3);
    const double bound = theorem(o, 3, 3, -0.5).value;
    EXPECT_GT(quiet, last);
    EXPECT_LT(quiet, worst);
    EXPECT_LT(worst, bound);
    last = quiet;
    plotted("error", "boba", epsilon, quiet);
    plotted("error", "boba under simplex", epsilon, worst);
    plotted("error", "krum", epsilon, error("krum(f=3)", o, "none", 0));
    plotted("error", "bound with 3 attackers", epsilon, bound);
  }
}

// Attackers whose projections fall outside of the accepted region are dropped, and the error stays
// at the noise however far off they are.
TEST(Theorem55, AttackersOutsideTheRegionAreWorthNothing) {
  const TheoryOptions o{.epsilon = 0.01, .epsilon_s = 0.01};
  const TheoryRound round = make_theory(o);
  const Verdict verdict =
      outcome_of("boba(f=3)", attacked(round, "cluster", 3), round.server).verdict;
  for (std::size_t j = 11; j < 14; ++j) ASSERT_FALSE(verdict.clients[j].accepted);
  const double quiet = error("boba(f=3)", o, "none", 0);
  EXPECT_LT(error("boba(f=3)", o, "cluster", 3), 3 * quiet);
  EXPECT_GT(error("average", o, "cluster", 3), 1000 * quiet);
}

// The worst accepted attackers: the error is beta times delta, as the lower bound says.
TEST(Theorem55, GrowsWithBetaTimesDeltaUnderTheWorstAttack) {
  const TheoryOptions quiet{.honest = 20, .epsilon = 1e-6, .epsilon_s = 1e-6};
  std::vector<double> beta, by_beta, delta, by_delta, region, by_region;
  for (int b : {1, 2, 3, 4}) {
    beta.push_back(static_cast<double>(b) / (20 + b));
    by_beta.push_back(error("boba(f=5)", quiet, "simplex", b, 3));
  }
  EXPECT_NEAR(slope(beta, by_beta), 2, 0.02);
  for (double size : {1.0, 10.0, 100.0}) {
    TheoryOptions o = quiet;
    o.size = size;
    delta.push_back(size);
    by_delta.push_back(error("boba(f=5)", o, "simplex", 3, 3));
  }
  EXPECT_NEAR(slope(delta, by_delta), 2, 0.02);
  // 1 + c |p_min| is the factor of the bound.
  for (double p_min : {-0.2, -0.5, -1.0, -2.0}) {
    region.push_back(1 + 3 * std::abs(p_min));
    by_region.push_back(error(fmt::format("boba(f=5,p_min={})", p_min), quiet,
                              fmt::format("simplex(p_min={})", p_min), 3, 3));
  }
  EXPECT_NEAR(slope(region, by_region), 2, 0.3);
  fmt::print("slopes of error^2: beta {:.3f}, delta {:.3f}, 1 + c |p_min| {:.3f}\n",
             slope(beta, by_beta), slope(delta, by_delta), slope(region, by_region));
  // All three as multiples of their first point.
  const auto plot = [](const std::string& line, const auto& x, const auto& y) {
    for (std::size_t k = 0; k < x.size(); ++k) plotted("growth", line, x[k] / x[0], y[k] / y[0]);
  };
  plot("beta", beta, by_beta);
  plot("delta", delta, by_delta);
  plot("1 + c |p_min|", region, by_region);
}

}  // namespace
}  // namespace boba::test
