// p_min=auto: what the threshold is, what attackers can do to it, and how it compares with fixed
// ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "boba/rules/boba.h"
#include "boba/rules/registry.h"
#include "tests/support/boba_runner.h"
#include "tests/support/label_skew.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kGood = 0.05;
constexpr double kPoor = 0.9;

// Few coordinates, so that much of the server's noise lies within the subspace.
SkewOptions few_coordinates(double server_noise, std::uint64_t seed = 1) {
  return {.honest = 60,
          .classes = 5,
          .length = 12,
          .common = 1,
          .separation = 3,
          .noise = 0.05,
          .server_noise = server_noise,
          .seed = seed};
}

// The true class gradients: what a server without noise has.
MatrixXd corners_of(SkewOptions o) {
  o.server_noise = 0;
  return make_skewed(o).server;
}

// Honest rows, then `count` copies of the mix with `least` of every class but the first.
MatrixXd with_corner(const SkewOptions& o, int count, double least) {
  const MatrixXd corners = corners_of(o);
  VectorXd p = VectorXd::Constant(corners.rows(), least);
  p(0) = 1 - static_cast<double>(corners.rows() - 1) * least;
  const MatrixXd honest = make_skewed(o).updates;
  MatrixXd rows(honest.rows() + count, honest.cols());
  rows << honest, (corners.transpose() * p).transpose().replicate(count, 1);
  return rows;
}

struct Count {
  int honest_rejected = 0;
  int byzantine_accepted = 0;
  double p_min = 0;
  VectorXd out;
};

Count judge(const std::string& spec, const MatrixXd& updates, const MatrixXd& server, int honest) {
  const MatrixOutcome outcome =
      run(spec, to_updates(updates, DType::kFloat64), to_updates(server, DType::kFloat64));
  Count count;
  for (std::size_t i = 0; i < outcome.verdict.clients.size(); ++i) {
    const bool accepted = outcome.verdict.clients[i].accepted;
    if (static_cast<int>(i) < honest) {
      count.honest_rejected += accepted ? 0 : 1;
    } else {
      count.byzantine_accepted += accepted ? 1 : 0;
    }
  }
  for (const NamedValue& m : outcome.verdict.measures) {
    if (m.name == "p_min") count.p_min = m.value;
  }
  count.out = outcome.out;
  return count;
}

double least_share(const ClientVerdict& client) {
  return *std::min_element(client.label_mix.begin(), client.label_mix.end());
}

TEST(BobaAuto, IsASpellingOfTheOption) {
  for (const char* rule : {"boba", "boba-es", "boba-no-stage1"}) {
    const std::string spec = fmt::format("{}(f=2,p_min=auto)", rule);
    const Result<Aggregator> made = make_aggregator(spec);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->spec(), spec);
  }
  EXPECT_EQ(make_boba({.f = 1, .p_min = kAutoPMin})->spec(), "boba(f=1,p_min=auto)");
  for (const char* bad : {"boba(p_min=autos)", "boba(p_min=inf)", "boba(p_min=nan)",
                          "boba(p_min=2)", "boba(f=auto)", "boba-no-stage2(p_min=auto)"}) {
    EXPECT_FALSE(make_aggregator(bad)) << bad;
  }
  EXPECT_EQ(make_aggregator("boba(p_min=autos)").error().message,
            "boba: p_min=autos is not a number; it may also be auto");
  EXPECT_FALSE(make_boba({.p_min = std::nan("")}));
}

TEST(BobaAuto, IsTwiceTheShareAfterTheFLowest) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const SkewOptions o = few_coordinates(kPoor, seed);
    const UpdateMatrix updates = to_updates(make_skewed(o).updates, DType::kFloat64);
    const UpdateMatrix server = to_updates(make_skewed(o).server, DType::kFloat64);
    for (int f : {0, 3, 10}) {
      const Verdict verdict = run(fmt::format("boba(f={},p_min=auto)", f), updates, server).verdict;
      std::vector<double> least;
      for (const ClientVerdict& client : verdict.clients) least.push_back(least_share(client));
      std::sort(least.begin(), least.end());
      const double expected = std::clamp(2 * least[static_cast<std::size_t>(f)], -1.0, -0.05);
      ASSERT_EQ(verdict.measures.size(), 1u);
      EXPECT_EQ(verdict.measures[0].name, "p_min");
      EXPECT_DOUBLE_EQ(verdict.measures[0].value, expected);
      for (const ClientVerdict& client : verdict.clients) {
        EXPECT_EQ(client.accepted, least_share(client) >= expected) << client.reason;
      }
    }
  }
}

// The same decisions after a translation, a change of units and in another order.
TEST(BobaAuto, DoesNotDependOnOriginUnitsOrOrder) {
  const SkewOptions o = few_coordinates(kPoor, 3);
  const MatrixXd updates = with_corner(o, 6, -0.9);
  const MatrixXd server = make_skewed(o).server;
  const std::string spec = "boba(f=7,p_min=auto)";
  const Count plain = judge(spec, updates, server, o.honest);
  const Eigen::RowVectorXd shift = Eigen::RowVectorXd::LinSpaced(updates.cols(), -3, 5);
  for (double scale : {1e-3, 1e4}) {
    const Count moved = judge(spec, (scale * updates).rowwise() + shift,
                              (scale * server).rowwise() + shift, o.honest);
    EXPECT_NEAR(moved.p_min, plain.p_min, 1e-8);
    EXPECT_EQ(moved.honest_rejected, plain.honest_rejected);
    EXPECT_EQ(moved.byzantine_accepted, plain.byzantine_accepted);
  }
  const MatrixXd reversed = updates.colwise().reverse();
  const Count turned = judge(spec, reversed, server, o.honest);
  EXPECT_NEAR(turned.p_min, plain.p_min, 1e-10);
  EXPECT_LT((turned.out - plain.out).norm(), 1e-10 * plain.out.norm());
}

// Whatever f clients send, the threshold stays at or above twice the least honest share in the
// subspace of the round.
TEST(BobaAuto, NoAttackerLoosensItBelowTwiceTheLeastHonestShare) {
  const SkewOptions o = few_coordinates(0.3, 5);
  const MatrixXd server = make_skewed(o).server;
  for (double least : {-100.0, -2.0, -0.4, -0.1, 0.0}) {
    const MatrixXd rows = with_corner(o, 8, least);
    const Verdict verdict = run("boba(f=8,p_min=auto)", to_updates(rows, DType::kFloat64),
                                to_updates(server, DType::kFloat64))
                                .verdict;
    double honest = 0;
    for (int i = 0; i < o.honest; ++i) {
      honest = std::min(honest, least_share(verdict.clients[static_cast<std::size_t>(i)]));
    }
    EXPECT_GE(verdict.measures[0].value, std::min(2 * honest, -0.05)) << least;
  }
}

TEST(BobaAuto, GoodServerDataTightenItAndPoorLoosenIt) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SkewOptions good = few_coordinates(kGood, seed);
    const SkewOptions poor = few_coordinates(kPoor, seed);
    const auto tight = judge("boba(f=7,p_min=auto)", with_corner(good, 6, -0.3),
                             make_skewed(good).server, good.honest);
    const auto loose = judge("boba(f=7,p_min=auto)", with_corner(poor, 6, -0.3),
                             make_skewed(poor).server, poor.honest);
    EXPECT_EQ(tight.honest_rejected, 0) << seed;
    EXPECT_EQ(tight.byzantine_accepted, 0) << seed;
    EXPECT_LT(loose.p_min, tight.p_min) << seed;
    // The published threshold lets all of them in.
    const auto fixed =
        judge("boba(f=7)", with_corner(good, 6, -0.3), make_skewed(good).server, good.honest);
    EXPECT_EQ(fixed.byzantine_accepted, 6) << seed;
  }
}

// The table of docs/rules/boba.md. What is asserted is the order; the numbers are printed.
TEST(BobaAuto, AgainstFixedThresholds) {
  constexpr int kSeeds = 40;
  constexpr int kForged = 8;
  struct Cell {
    double rejected = 0;
    double accepted = 0;
    double error = 0;
    double p_min = 0;
  };
  const auto measured = [](double noise, double least, const std::string& p_min) {
    Cell cell;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const SkewOptions o = few_coordinates(noise, seed);
      const MatrixXd rows = least < 0 ? with_corner(o, kForged, least) : make_skewed(o).updates;
      const Count count =
          judge(fmt::format("boba(f=9,p_min={})", p_min), rows, make_skewed(o).server, o.honest);
      const VectorXd mean = rows.topRows(o.honest).colwise().mean();
      cell.rejected += static_cast<double>(count.honest_rejected) / kSeeds;
      cell.accepted += static_cast<double>(count.byzantine_accepted) / kSeeds;
      cell.error += (count.out - mean).norm() / kSeeds;
      cell.p_min += count.p_min / kSeeds;
    }
    return cell;
  };
  fmt::print("{:>6} {:>8} {:>6} {:>9} {:>9} {:>7} {:>7}\n", "server", "attack", "p_min", "rejected",
             "accepted", "error", "chosen");
  for (double noise : {kGood, 0.4, kPoor}) {
    for (double least : {0.0, -0.15, -0.45}) {
      Cell cells[3];
      int k = 0;
      for (const char* p_min : {"-0.5", "-0.2", "auto"}) {
        cells[k] = measured(noise, least, p_min);
        fmt::print("{:>6} {:>8} {:>6} {:>9.2f} {:>9.2f} {:>7.3f} {:>7.3f}\n", noise, least, p_min,
                   cells[k].rejected, cells[k].accepted, cells[k].error, cells[k].p_min);
        ++k;
      }
      if (noise == kGood) {
        EXPECT_EQ(cells[2].rejected, 0);
        EXPECT_EQ(cells[2].accepted, 0);
      }
      if (noise == kPoor) {
        EXPECT_LT(cells[2].rejected, cells[1].rejected);
      }
    }
  }
}

}  // namespace
}  // namespace boba::test
