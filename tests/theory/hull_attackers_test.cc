// What docs/theory-hull.md says about attackers: what no rule can avoid, and what each attack costs
// boba-hull beside the bounds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/theory_hull.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

// Theorem 8: the same rows with other liars. f rows near one corner, f near another, the others in
// between: no rule is nearer than half the distance of the two honest means in both rounds.
TEST(HullLowerBound, NoRuleIsBelowHalfTheDistance) {
  for (const int f : {2, 4, 7}) {
    constexpr int kRows = 24;
    for (const double epsilon : {1e-6, 0.05}) {
      const TheoryRound base =
          make_theory({.honest = kRows, .epsilon = epsilon, .epsilon_s = epsilon});
      MatrixXd mix(kRows, 3);
      for (int i = 0; i < kRows; ++i) {
        const double share = static_cast<double>(i) / (kRows - 1);
        mix.row(i) << 0.2 + 0.3 * share, 0.5 - 0.3 * share, 0.3;
        if (i % 4 == 0) mix.row(i) << 0.1 * share, 0.1 * share, 1 - 0.2 * share;
        if (i < 2 * f) mix.row(i) << (i < f ? 1 : 0), (i < f ? 0 : 1), 0;
      }
      const MatrixXd rows = mix * base.corners + (base.honest - base.expected);
      const VectorXd first = rows.bottomRows(kRows - f).colwise().mean();
      const VectorXd second =
          (rows.topRows(f).colwise().sum() + rows.bottomRows(kRows - 2 * f).colwise().sum()) /
          (kRows - f);
      const double half = (first - second).norm() / 2;
      const double apart = (base.corners.row(0) - base.corners.row(1)).norm();
      EXPECT_NEAR(half, f / 2.0 / (kRows - f) * apart, epsilon);
      fmt::print("f {}, epsilon {}: half {:.4f};", f, epsilon, half);
      for (const std::string& rule :
           {fmt::format("boba-hull(f={})", f), fmt::format("boba(f={})", f),
            fmt::format("krum(f={})", f), fmt::format("trmean(f={})", f), std::string("geomed"),
            std::string("coomed"), std::string("average")}) {
        const VectorXd out = outcome_of(rule, rows, base.server).out;
        const double worst = std::max((out - first).norm(), (out - second).norm());
        EXPECT_GE(worst, half * (1 - 1e-9)) << rule;
        fmt::print(" {} {:.2f}", rule, worst / half);
        // Where nobody is lost, the mean of all is within a factor below 2.
        if (rule.starts_with("boba-hull") && epsilon > 1e-3) {
          EXPECT_LE(worst / half, 2.0 * (kRows - f) / kRows + 0.1);
        }
      }
      fmt::print("\n");
    }
  }
}

// All in radii, the distance of the farthest class gradient from the honest mean.
struct Costs {
  double accepted = 0;  // liars
  double lost = 0;      // honest clients
  double error = 0;
  double average = 0;   // the error of the plain average
  double bound = 0;     // that of Theorem 3
  double computed = 0;  // what the server computes
  double simple = 0;    // f/(n - f) times the farthest accepted row's distance from the mean
  double least = 0;     // f/(2 (n - f)) times the largest distance of two class gradients
};

constexpr int kHonest = 100, kByzantine = 15, kF = 16, kSeeds = 10;

Costs costs(const std::string& attack, double epsilon) {
  Costs all;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const TheoryRound round = make_theory({.honest = kHonest,
                                           .classes = 10,
                                           .length = 100,
                                           .epsilon = epsilon,
                                           .epsilon_s = epsilon,
                                           .seed = seed});
    const HullSpec spec{.f = kF};
    const MatrixXd rows = attacked(round, attack, attack == "none" ? 0 : kByzantine, 1);
    const HullRun run = hull_run(spec, rows, round.server);
    const HullError e = hull_error(spec, run, rows, kHonest);
    EXPECT_LE(e.error, e.bound + 1e-12) << attack;
    const RowVectorXd mean = round.honest.colwise().mean();
    const double radius = (round.corners.rowwise() - mean).rowwise().norm().maxCoeff();
    const Certificate c = certificate(kF, run, rows);
    EXPECT_LE(error_among_accepted(run, rows, kHonest), c.least() * (1 + 1e-9)) << attack;
    double farthest = 0, apart = 0;
    for (Index i = 0; i < rows.rows(); ++i) {
      if (!run.accepted[static_cast<std::size_t>(i)]) continue;
      farthest = std::max(farthest, (rows.row(i) - mean).norm());
    }
    for (Index z = 0; z < round.corners.rows(); ++z) {
      apart = std::max(
          apart, (round.corners.rowwise() - round.corners.row(z)).rowwise().norm().maxCoeff());
    }
    const double part = kF / (static_cast<double>(rows.rows()) - kF);
    all.accepted += static_cast<double>(run.liars(kHonest)) / kSeeds;
    all.lost += e.lost * static_cast<double>(run.accepted_rows()) / kSeeds;
    all.error += e.error / radius / kSeeds;
    all.average += (rows.colwise().mean() - mean).norm() / radius / kSeeds;
    all.bound += e.bound / radius / kSeeds;
    all.computed += c.least() / radius / kSeeds;
    all.simple += part * farthest / radius / kSeeds;
    all.least += part / 2 * apart / radius / kSeeds;
  }
  return all;
}

TEST(HullAttackers, WhatEachCosts) {
  for (const double epsilon : {0.1, 0.5}) {
    fmt::print("epsilon {}\n", epsilon);
    double worst = 0;
    for (const char* attack :
         {"none", "ipm", "ipm | noise", "gauss(sigma=3)", "lie", "lie | noise", "mimic",
          "mimic | noise(size=0.5)", "minmax", "minmax | noise", "simplex", "simplex | noise",
          "simplex(p_min=0) | noise", "inside(corner=-1,reach=0) | noise",
          "inside(corner=-1,reach=2) | noise", "inside(corner=-1,reach=3) | noise",
          "inside(corner=-1) | noise"}) {
      const Costs c = costs(attack, epsilon);
      fmt::print(
          "{:>34}: accepted {:>4.1f}, lost {:>4.1f}, error {:.3f}, average {:>6.3f}, bound "
          "{:.3f}, computed {:.3f}, f/(n-f) {:.3f}, any rule {:.3f}\n",
          attack, c.accepted, c.lost, c.error, c.average, c.bound, c.computed, c.simple, c.least);
      EXPECT_LE(c.error, c.simple + 1e-12) << attack;
      worst = std::max(worst, c.error / c.least);
    }
    // Inside the simplex an attacker reaches what no rule can avoid, and beyond little more.
    EXPECT_GT(worst, 1);
    EXPECT_LT(worst, epsilon < 0.3 ? 2 : 3);
  }
}

}  // namespace
}  // namespace boba::test
