// What docs/theory-hull.md proves about boba-hull: the mean without attackers, the error with any
// accepted set, what the server can compute afterwards, and what no rule can avoid.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "boba/core/random.h"
#include "tests/support/theory_hull.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

const std::vector<std::string> kAttacks = {
    "none",
    "ipm",
    "gauss(sigma=3)",
    "lie",
    "lie | noise",
    "mimic",
    "minmax",
    "minmax | noise",
    "simplex",
    "simplex(p_min=-0.05) | noise",
    "simplex(p_min=0) | noise",
    "inside(corner=-1,reach=1)",
    "inside(corner=-1,reach=1) | noise",
    "cluster",
};

std::size_t honest_of(const TheoryRound& round) {
  return static_cast<std::size_t>(round.honest.rows());
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

// The share of n clients that are attackers in these tests, about 15 percent.
int some_liars(const TheoryRound& round) { return static_cast<int>(round.honest.rows() * 3 / 17); }

// Proposition 1: without copies, all pass exactly if the largest distance is at most kappa times
// the typical one, and then the result is the mean.
TEST(HullWithoutAttackers, TheResultIsTheMean) {
  for (const double epsilon : {0.01, 0.03, 0.1, 0.5}) {
    int everyone = 0, with_copies = 0;
    double worst = 0, cost = 0;
    constexpr int kDraws = 200;
    for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
      const TheoryRound round = random_federation(seed, epsilon, epsilon);
      const HullSpec spec{.f = some_liars(round)};
      const HullRun run = hull_run(spec, round.honest, round.server);
      const bool all_near = largest(run.distance) <= spec.kappa * run.typical;
      const bool all_count = run.count() == honest_of(round);
      EXPECT_EQ(run.accepted_rows() == honest_of(round), all_near && all_count) << seed;
      const RowVectorXd mean = round.honest.colwise().mean();
      const double off = (run.out.transpose() - mean).norm();
      if (!all_count) {
        ++with_copies;
        cost = std::max(cost, off / hull_error(spec, run, round.honest, honest_of(round)).radius);
      }
      if (!all_near || !all_count) continue;
      ++everyone;
      worst = std::max(worst, off / mean.norm());
    }
    fmt::print(
        "epsilon {:>4}: everyone accepted in {} of {} draws, off the mean by {:.1e}; copies "
        "in {}, error/radius up to {:.3f}\n",
        epsilon, everyone, kDraws, worst, with_copies, cost);
    EXPECT_LT(worst, 1e-13);
    EXPECT_GE(everyone + with_copies, 0.99 * kDraws);
    // With little noise, clients of one class are copies of each other.
    EXPECT_EQ(with_copies > 0, epsilon < 0.05);
  }
}

// The mean error over many draws of the noise, in what it is expected to be if there is no bias: 1.
double bias_in_noise(const std::string& rule, int honest) {
  constexpr int kDraws = 400;
  VectorXd sum = VectorXd::Zero(20);
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    const TheoryRound round = make_theory({.honest = honest, .seed = seed});
    const VectorXd off = outcome_of(rule, round.honest, round.server).out - round.mean();
    sum += off;
    squares += off.squaredNorm();
  }
  return sum.squaredNorm() / squares;
}

TEST(HullWithoutAttackers, TheResultIsUnbiased) {
  const double hull = bias_in_noise("boba-hull(f=3)", 22);
  const double average = bias_in_noise("average", 22);
  const double coomed = bias_in_noise("coomed", 22);
  const double krum = bias_in_noise("krum(f=3)", 22);
  // Two of eleven clients hold the third class. With f = 2 they are lost together now and then.
  const double rare = bias_in_noise("boba-hull(f=2)", 11);
  const double none = bias_in_noise("boba-hull(f=0)", 11);
  fmt::print(
      "bias beside noise: boba-hull {:.2f}, average {:.2f}, coomed {:.0f}, krum {:.0f}; a "
      "class of two clients: f=0 {:.2f}, f=2 {:.2f}\n",
      hull, average, coomed, krum, none, rare);
  EXPECT_LT(hull, 1.5);
  EXPECT_LT(none, 1.5);
  EXPECT_GT(rare, 2);
  EXPECT_GT(coomed, 20);
  EXPECT_GT(krum, 20);
}

// Proposition 2. Every client has its own size of noise, some of them far larger than most.
TEST(HullWithoutAttackers, RejectedTailsCostTheirShare) {
  for (const double kappa : {2.0, 4.0, 8.0}) {
    double lost = 0, off = 0, ratio = 0;
    constexpr int kDraws = 100;
    for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
      TheoryRound round = random_federation(seed, 0.1, 0.1);
      for (Index i = 0; i < round.honest.rows(); ++i) {
        const double own =
            std::exp(normal_at({.seed = 1000 + seed}, static_cast<std::uint64_t>(i)));
        round.honest.row(i) += (own - 1) * (round.honest.row(i) - round.expected.row(i));
      }
      const HullSpec spec{.f = some_liars(round), .kappa = kappa};
      const HullRun run = hull_run(spec, round.honest, round.server);
      const HullError e = hull_error(spec, run, round.honest, honest_of(round));
      const RowVectorXd mean = round.honest.colwise().mean();
      RowVectorXd sum = RowVectorXd::Zero(mean.size());
      double missing = 0;
      for (std::size_t i = 0; i < run.accepted.size(); ++i) {
        if (run.accepted[i]) continue;
        sum += mean - round.honest.row(static_cast<Index>(i));
        ++missing;
      }
      const auto m = static_cast<double>(run.accepted_rows());
      EXPECT_LT((run.out.transpose() - mean - sum / m).norm(), 1e-12);
      EXPECT_LE(e.error, e.bound + 1e-12);
      // More than half pass whatever the noise is, and no more than 2f are lost.
      EXPECT_GT(2 * m, static_cast<double>(run.count()));
      EXPECT_GE(m + 2 * spec.f, static_cast<double>(run.count()));
      lost += missing / static_cast<double>(honest_of(round)) / kDraws;
      off += e.error / e.radius / kDraws;
      if (e.bound > 0) ratio = std::max(ratio, e.error / e.bound);
    }
    fmt::print(
        "kappa {}: {:.4f} of the clients lost, error/radius {:.4f}, at most {:.2f} of the "
        "bound\n",
        kappa, lost, off, ratio);
    EXPECT_GT(lost, 0.01);
    EXPECT_GT(ratio, 0.8);
  }
}

// With one corner, noise in one direction passes as often as 2 Phi(kappa z) - 1, z the upper
// quartile of a normal number, and in two directions all but 2^(-kappa^2) of the clients pass.
TEST(HullWithoutAttackers, NormalNoiseIsLostAsOftenAsStated) {
  for (const auto& [length, kappa, expected] :
       {std::tuple{1, 2.0, 0.1773}, std::tuple{1, 4.0, 0.00697}, std::tuple{2, 2.0, 0.0625}}) {
    constexpr int kClients = 1000, kDraws = 10;
    int lost = 0, count = 0;
    for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
      MatrixXd rows(kClients, length);
      std::uint64_t at = 0;
      for (double& x : rows.reshaped()) x = normal_at({.seed = seed}, at++);
      const HullSpec spec{.f = kClients / 4, .kappa = kappa};
      const HullRun run = hull_run(spec, rows, MatrixXd::Zero(1, length));
      for (std::size_t i = 0; i < run.accepted.size(); ++i) {
        lost += run.counted[i] && !run.accepted[i] ? 1 : 0;
      }
      count += static_cast<int>(run.count());
    }
    const double share = static_cast<double>(lost) / count;
    fmt::print("{} directions, kappa {}: lost {:.4f}, stated {:.4f}\n", length, kappa, share,
               expected);
    // Five standard deviations, and the error of the median.
    EXPECT_NEAR(share, expected, 5 * std::sqrt(expected / (kClients * kDraws)) + 0.05 * expected);
  }
}

// Theorem 3 and its corollaries, in every draw.
TEST(HullAnyAcceptedSet, TheErrorKeepsItsBound) {
  for (const std::string& attack : kAttacks) {
    double accepted = 0, lost = 0, error = 0, bound = 0, worst = 0;
    int filled = 0;
    constexpr int kDraws = 60;
    for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
      const double epsilon = seed % 3 == 0 ? 0.3 : seed % 3 == 1 ? 0.1 : 0.02;
      const TheoryRound round = random_federation(seed, epsilon, epsilon);
      const int b = attack == "none" ? 0 : some_liars(round);
      const std::size_t h = honest_of(round);
      // With kappa = 1 fewer than n - 2f pass, and the nearest of the others are accepted.
      const HullSpec spec{.f = some_liars(round) + (seed % 2 == 0 ? 1 : 0),
                          .kappa = seed % 4 == 0 ? 1.0 : 4.0};
      const MatrixXd rows = attacked(round, attack, b, 1);
      const HullRun run = hull_run(spec, rows, round.server);
      const HullError e = hull_error(spec, run, rows, h);
      EXPECT_LE(e.error, e.bound * (1 + 1e-9) + 1e-12) << attack << ", seed " << seed;

      // The typical distance lies between two of the honest ones.
      std::vector<double> honest;
      std::size_t lying = 0;
      for (std::size_t i = 0; i < run.counted.size(); ++i) {
        if (i < h && run.counted[i]) honest.push_back(run.distance[i]);
        if (i >= h && run.counted[i]) ++lying;
      }
      std::sort(honest.begin(), honest.end());
      const std::size_t middle = run.count() / 2;
      ASSERT_LT(middle, honest.size());
      EXPECT_LE(run.typical, honest[middle] * (1 + 1e-9));
      EXPECT_GE(run.typical, honest[middle - lying] * (1 - 1e-9));
      // Nobody is accepted from farther out than this.
      for (std::size_t i = 0; i < run.accepted.size(); ++i) {
        if (!run.accepted[i]) continue;
        const double reach = std::max(spec.kappa * run.typical, honest.back());
        EXPECT_LE(run.distance[i], reach * (1 + 1e-9)) << attack << ", seed " << seed;
      }
      // The worst that the counts allow.
      const auto f = static_cast<std::size_t>(spec.f);
      EXPECT_GE(run.accepted_rows() + 2 * f, run.count());
      EXPECT_GT(2 * run.accepted_rows(), run.count());
      const std::size_t spare = run.accepted.size() - run.count();
      EXPECT_LE(e.liars + e.lost,
                static_cast<double>(3 * f + spare) / static_cast<double>(run.count() - 2 * f));
      accepted += static_cast<double>(run.liars(h)) / std::max(1, b) / kDraws;
      lost += e.lost / kDraws;
      error += e.error / e.radius / kDraws;
      bound += e.bound / e.radius / kDraws;
      if (e.bound > 0) worst = std::max(worst, e.error / e.bound);
      filled += run.filled ? 1 : 0;
    }
    fmt::print(
        "{:>28}: accepted {:.2f}, lost {:.3f}, error {:.4f}, bound {:.4f}, at most {:.2f} "
        "of it, filled {}\n",
        attack, accepted, lost, error, bound, worst, filled);
    EXPECT_GT(filled, 10) << attack;
    // The bound is nearly reached from inside, and nothing is lost to attackers far out.
    if (attack == "inside(corner=-1,reach=1) | noise") {
      EXPECT_GT(worst, 0.9);
    }
    if (attack == "cluster" || attack.starts_with("gauss")) {
      EXPECT_EQ(accepted, 0);
    }
  }
}

// Proposition 4: what the server can compute, whoever the f liars are.
TEST(HullAnyAcceptedSet, TheServersCertificateHolds) {
  for (const std::string& attack : kAttacks) {
    double error = 0, farthest = 0, deviation = 0, worst = 0;
    constexpr int kDraws = 60;
    for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
      const TheoryRound round = random_federation(seed, 0.1, 0.1);
      const int b = attack == "none" ? 0 : some_liars(round);
      const HullSpec spec{.f = some_liars(round)};
      const MatrixXd rows = attacked(round, attack, b, 1);
      const HullRun run = hull_run(spec, rows, round.server);
      const Certificate c = certificate(spec.f, run, rows);
      const double off = error_among_accepted(run, rows, honest_of(round));
      EXPECT_LE(off, c.farthest * (1 + 1e-9) + 1e-12) << attack << ", seed " << seed;
      EXPECT_LE(off, c.deviation * (1 + 1e-9) + 1e-12) << attack << ", seed " << seed;
      const double radius =
          (run.corners.rowwise() - run.out.transpose()).rowwise().norm().maxCoeff();
      error += off / radius / kDraws;
      farthest += c.farthest / radius / kDraws;
      deviation += c.deviation / radius / kDraws;
      worst = std::max(worst, off / c.least());
    }
    fmt::print(
        "{:>28}: error {:.4f}, farthest {:.4f}, deviation {:.4f}, at most {:.2f} of the "
        "least\n",
        attack, error, farthest, deviation, worst);
    if (attack == "inside(corner=-1,reach=1) | noise") {
      EXPECT_GT(worst, 0.95);
    }
  }
}

}  // namespace
}  // namespace boba::test
