// Several server gradients per class: they count as their mean, and with p_min=auto they give the
// threshold.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "boba/core/random.h"
#include "boba/rules/boba.h"
#include "boba/rules/registry.h"
#include "boba/rules/subspace_report.h"
#include "tests/support/boba_runner.h"
#include "tests/support/label_skew.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

UpdateMatrix rows_of(const MatrixXd& rows) { return to_updates(rows, DType::kFloat64); }

// Every corner plus noise of this norm, `parts` times; their mean is known better by sqrt(parts).
MatrixXd noisy_parts(const MatrixXd& corners, int parts, double noise, std::uint64_t seed) {
  MatrixXd rows(corners.rows() * parts, corners.cols());
  const double sd = noise / std::sqrt(static_cast<double>(corners.cols()));
  for (Index i = 0; i < rows.rows(); ++i) {
    const StreamKey key{
        .seed = seed, .client = static_cast<std::uint32_t>(i), .purpose = Purpose::kBench};
    for (Index k = 0; k < rows.cols(); ++k) {
      rows(i, k) = corners(i / parts, k) + sd * normal_at(key, static_cast<std::uint64_t>(k));
    }
  }
  return rows;
}

MatrixXd means_of(const MatrixXd& rows, int parts) {
  MatrixXd means(rows.rows() / parts, rows.cols());
  for (Index z = 0; z < means.rows(); ++z) {
    means.row(z) = rows.middleRows(z * parts, parts).colwise().mean();
  }
  return means;
}

double value_of(const Verdict& verdict, std::string_view name) {
  for (const NamedValue& m : verdict.measures) {
    if (m.name == name) return m.value;
  }
  ADD_FAILURE() << "no measure " << name;
  return 0;
}

TEST(BobaParts, CountAsTheirMean) {
  const SkewOptions o{.honest = 30, .byzantine = 4, .classes = 4, .length = 60};
  const SkewedRound round = make_skewed(o, Forgery::kIpm);
  for (const int parts : {2, 3, 5}) {
    const MatrixXd rows = noisy_parts(round.server, parts, 0.4, 7);
    const MatrixOutcome whole =
        run("boba(f=5)", rows_of(round.updates), rows_of(means_of(rows, parts)));
    const MatrixOutcome cut =
        run(fmt::format("boba(f=5,parts={})", parts), rows_of(round.updates), rows_of(rows));
    EXPECT_TRUE(mentions(cut.verdict.notes, fmt::format("4 classes of {} parts", parts)));
    EXPECT_LT((cut.out - whole.out).norm(), 1e-9 * whole.out.norm());
    for (std::size_t i = 0; i < whole.verdict.clients.size(); ++i) {
      const ClientVerdict& a = whole.verdict.clients[i];
      const ClientVerdict& b = cut.verdict.clients[i];
      EXPECT_EQ(a.accepted, b.accepted);
      EXPECT_EQ(in_fit(a), in_fit(b));
      EXPECT_NEAR(a.weight.value(), b.weight.value(), 1e-9);
      ASSERT_EQ(b.label_mix.size(), 4U);
      for (std::size_t z = 0; z < 4; ++z) EXPECT_NEAR(a.label_mix[z], b.label_mix[z], 1e-8);
    }
    ASSERT_EQ(cut.verdict.server_weights.size(), static_cast<std::size_t>(4 * parts));
    EXPECT_EQ(subspace_of(cut.verdict)->dimension, 3U);
  }
}

TEST(BobaParts, AmongStagesToo) {
  const SkewOptions o{.honest = 30, .byzantine = 4, .classes = 4, .length = 60};
  const SkewedRound round = make_skewed(o, Forgery::kIpm);
  const MatrixXd rows = noisy_parts(round.server, 2, 0.4, 7);
  for (const char* spec :
       {"bucketing(s=2) | boba(f=5{})", "boba(f=5{}) | server-mix(lambda=0.25)"}) {
    const MatrixOutcome whole = run(fmt::format(fmt::runtime(spec), ""), rows_of(round.updates),
                                    rows_of(means_of(rows, 2)));
    const MatrixOutcome cut =
        run(fmt::format(fmt::runtime(spec), ",parts=2"), rows_of(round.updates), rows_of(rows));
    EXPECT_LT((cut.out - whole.out).norm(), 1e-9 * whole.out.norm()) << spec;
  }
}

// Two classes on a line. The halves of one stand at -1 and 1, of the other at 8 and 12. A half seen
// from the other halves has the least share -2/11, 4/11, 2/9 or -4/9; a quarter of four is one,
// and after it comes -2/11.
TEST(BobaParts, AutoIsTheLowerQuartileOfWhatHalvesHave) {
  MatrixXd updates(6, 3);
  updates << 0, 0, 0, 2, 0, 0, 5, 0, 0, 7, 0, 0, 10, 0, 0, -1.9, 0, 0;
  MatrixXd server(4, 3);
  server << -1, 0, 0, 1, 0, 0, 8, 0, 0, 12, 0, 0;
  const MatrixOutcome outcome =
      run("boba(f=1,p_min=auto,parts=2)", rows_of(updates), rows_of(server));
  EXPECT_NEAR(value_of(outcome.verdict, "server_low_share"), -2.0 / 11, 1e-9);
  EXPECT_NEAR(value_of(outcome.verdict, "p_min"), -2.0 / 11, 1e-9);
  EXPECT_FALSE(outcome.verdict.clients[5].accepted);  // its share is -0.19
  EXPECT_NEAR(outcome.out(0), 4.8, 1e-9);

  updates(5, 0) = -1.8;
  const MatrixOutcome inside =
      run("boba(f=1,p_min=auto,parts=2)", rows_of(updates), rows_of(server));
  EXPECT_TRUE(inside.verdict.clients[5].accepted);
}

TEST(BobaParts, AutoStaysWithinItsBounds) {
  const SkewedRound round = make_skewed({.honest = 40, .classes = 4, .length = 30});
  const auto chosen = [&](double noise) {
    const MatrixOutcome outcome = run("boba(f=3,p_min=auto,parts=2)", rows_of(round.updates),
                                      rows_of(noisy_parts(round.server, 2, noise, 3)));
    return value_of(outcome.verdict, "p_min");
  };
  EXPECT_EQ(chosen(0), -0.05);
  EXPECT_EQ(chosen(100), -1);
  EXPECT_LT(chosen(0.8), chosen(0.4));
}

TEST(BobaParts, AutoDoesNotDependOnOriginUnitsOrOrder) {
  const SkewedRound round =
      make_skewed({.honest = 40, .byzantine = 5, .classes = 4, .length = 30}, Forgery::kLie);
  const MatrixXd server = noisy_parts(round.server, 3, 0.7, 5);
  const std::string spec = "boba(f=6,p_min=auto,parts=3)";
  const MatrixOutcome plain = run(spec, rows_of(round.updates), rows_of(server));
  const double p_min = value_of(plain.verdict, "p_min");
  EXPECT_LT(p_min, -0.06);
  EXPECT_GT(p_min, -0.9);
  const Eigen::RowVectorXd shift = Eigen::RowVectorXd::LinSpaced(server.cols(), -3, 5);
  for (double scale : {1e-3, 1e4}) {
    const MatrixOutcome moved = run(spec, rows_of((scale * round.updates).rowwise() + shift),
                                    rows_of((scale * server).rowwise() + shift));
    EXPECT_NEAR(value_of(moved.verdict, "p_min"), p_min, 1e-7);
  }
  const MatrixOutcome turned =
      run(spec, rows_of(round.updates.colwise().reverse()), rows_of(server));
  EXPECT_NEAR(value_of(turned.verdict, "p_min"), p_min, 1e-9);
  MatrixXd parts_turned = server;
  for (Index z = 0; z < 4; ++z) {
    parts_turned.middleRows(3 * z, 3) = server.middleRows(3 * z, 3).colwise().reverse().eval();
  }
  const MatrixOutcome others = run(spec, rows_of(round.updates), rows_of(parts_turned));
  EXPECT_NEAR(value_of(others.verdict, "p_min"), p_min, 1e-9);
}

TEST(BobaParts, OddCasesAreComputed) {
  const MatrixXd one = MatrixXd::Random(6, 5);
  const MatrixOutcome single = run("boba(f=1,p_min=auto,parts=2)", rows_of(one),
                                   rows_of(MatrixXd::Random(2, 5)));  // one class
  EXPECT_EQ(value_of(single.verdict, "p_min"), -0.05);
  EXPECT_EQ(single.verdict.clients[0].label_mix, std::vector<double>{1});
  // Equal clients: a subspace of no direction, in which nothing can be told apart.
  const MatrixOutcome equal = run("boba(f=1,p_min=auto,parts=2)", rows_of(MatrixXd::Ones(6, 5)),
                                  rows_of(MatrixXd::Random(6, 5)));
  EXPECT_EQ(value_of(equal.verdict, "server_low_share"), 0);
  EXPECT_LT((equal.out - VectorXd::Ones(5)).norm(), 1e-9);
}

TEST(BobaParts, RefusesWhatDoesNotFit) {
  const MatrixXd updates = MatrixXd::Random(6, 5);
  const auto server = rows_of(MatrixXd::Random(7, 5));
  const auto outcome = try_run("boba(f=1,parts=2)", rows_of(updates).view(), server.view());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message,
            "boba(parts=2) needs 2 server gradients per class, one after the other; got 7, not a "
            "multiple of 2");
  for (const char* bad : {"boba(parts=0)", "boba(parts=65)", "boba(parts=1.5)", "krum(parts=2)"}) {
    EXPECT_FALSE(make_aggregator(bad)) << bad;
  }
  EXPECT_EQ(make_aggregator("boba(f=2,parts=1)")->spec(), "boba(f=2)");
  EXPECT_EQ(make_aggregator("boba(f=2,parts=2)")->server_parts(), 2U);
  EXPECT_EQ(make_aggregator("bucketing(s=2) | boba(f=2,parts=2)")->server_parts(), 2U);
  EXPECT_EQ(make_aggregator("average")->server_parts(), 1U);
}

// The noise that halves show against that of the clients' shares: the table of docs/rules/boba.md.
TEST(BobaParts, AutoFollowsTheNoise) {
  constexpr int kSeeds = 40;
  constexpr int kForged = 8;
  fmt::print("{:>6} {:>8} {:>9} {:>9} {:>7} {:>7}\n", "server", "attack", "rejected", "accepted",
             "error", "chosen");
  for (double noise : {0.05, 0.4, 0.9}) {
    for (double least : {0.0, -0.15, -0.45}) {
      double rejected = 0;
      double accepted = 0;
      double error = 0;
      double chosen = 0;
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const SkewOptions o{.honest = 60,
                            .classes = 5,
                            .length = 12,
                            .common = 1,
                            .separation = 3,
                            .noise = 0.05,
                            .server_noise = 0,
                            .seed = seed};
        const SkewedRound round = make_skewed(o);
        const int forged = least < 0 ? kForged : 0;
        MatrixXd rows(o.honest + forged, o.length);
        VectorXd p = VectorXd::Constant(5, least);
        p(0) = 1 - 4 * least;
        rows << round.updates, (round.server.transpose() * p).transpose().replicate(forged, 1);
        const MatrixXd server = noisy_parts(round.server, 2, noise * std::sqrt(2.0), seed);
        const MatrixOutcome outcome =
            run("boba(f=9,p_min=auto,parts=2)", rows_of(rows), rows_of(server));
        for (int i = 0; i < o.honest + forged; ++i) {
          const bool in = outcome.verdict.clients[static_cast<std::size_t>(i)].accepted;
          if (i < o.honest) rejected += in ? 0 : 1.0 / kSeeds;
          if (i >= o.honest) accepted += in ? 1.0 / kSeeds : 0;
        }
        const VectorXd mean = round.updates.colwise().mean();
        error += (outcome.out - mean).norm() / kSeeds;
        chosen += value_of(outcome.verdict, "p_min") / kSeeds;
      }
      fmt::print("{:>6} {:>8} {:>9.2f} {:>9.2f} {:>7.3f} {:>7.3f}\n", noise, least, rejected,
                 accepted, error, chosen);
      EXPECT_LT(rejected, 1) << noise;  // of 60
      if (noise == 0.05) {
        EXPECT_EQ(rejected, 0);
      }
      if (noise < 0.9 || least < -0.4) {
        EXPECT_EQ(accepted, 0) << noise << " " << least;
      }
    }
  }
}

}  // namespace
}  // namespace boba::test
