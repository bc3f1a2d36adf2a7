// BOBA in n-space against BOBA written plainly in d-space, and its defined behaviours.
#include "boba/rules/boba.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <string>
#include <vector>

#include "boba/rules/subspace_report.h"
#include "tests/support/boba_oracle.h"
#include "tests/support/boba_runner.h"
#include "tests/support/label_skew.h"

namespace boba::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Case {
  std::string name;
  SkewOptions data;
  Forgery forgery = Forgery::kNone;
  int f = 0;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto add = [&](const char* name, Forgery forgery, int byzantine) {
    list.push_back({name, {.byzantine = byzantine}, forgery, byzantine + 1});
  };
  add("none", Forgery::kNone, 0);
  add("ipm", Forgery::kIpm, 5);
  add("gauss", Forgery::kGauss, 5);
  add("lie", Forgery::kLie, 5);
  add("mimic", Forgery::kMimic, 5);
  add("huge", Forgery::kHuge, 5);
  list.push_back({"ten_classes",
                  {.honest = 60, .byzantine = 8, .classes = 10, .length = 1500, .seed = 3},
                  Forgery::kIpm,
                  9});
  list.push_back({"two_classes",
                  {.honest = 12, .byzantine = 3, .classes = 2, .length = 40, .seed = 4},
                  Forgery::kGauss,
                  3});
  return list;
}

class BobaAgainstDSpace : public testing::TestWithParam<Case> {};

void expect_same(const MatrixOutcome& run, const BobaOracle& oracle, double tolerance) {
  const double size = oracle.out.norm();
  EXPECT_LE((run.out - oracle.out).norm(), tolerance * size);
  // Shares and residuals are as exact as the margins below suppose.
  ASSERT_GT(oracle.residual_margin, 1e-4) << "the case leaves the choice of the set to rounding";
  ASSERT_GT(oracle.share_margin, 1e-4) << "the case leaves a rejection to rounding";
  for (std::size_t i = 0; i < run.verdict.clients.size(); ++i) {
    const ClientVerdict& client = run.verdict.clients[i];
    EXPECT_EQ(client.accepted, oracle.accepted[i]) << "client " << i << ": " << client.reason;
    EXPECT_EQ(in_fit(client), oracle.in_fit[i]) << "client " << i;
    EXPECT_NEAR(measure(client, "residual"), oracle.residual[i], 1e-4 * (1 + oracle.residual[i]));
    for (std::size_t z = 0; z < client.label_mix.size(); ++z) {
      const double share =
          oracle.shares(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(z));
      EXPECT_NEAR(client.label_mix[z], share, 2e-5 * (1 + std::abs(share)));
    }
  }
  const SubspaceReport report = *subspace_of(run.verdict);
  ASSERT_EQ(report.singular_values.size(), oracle.singular_values.size());
  for (std::size_t k = 0; k < report.rank; ++k) {
    EXPECT_NEAR(report.singular_values[k], oracle.singular_values[k],
                1e-5 * oracle.singular_values[0]);
  }
  ASSERT_EQ(report.trimmed_loss.size(), oracle.trimmed_loss.size());
}

TEST_P(BobaAgainstDSpace, EveryVariantAgrees) {
  const Case& c = GetParam();
  const SkewedRound data = make_skewed(c.data, c.forgery);
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const UpdateMatrix updates = to_updates(data.updates, dtype);
    const UpdateMatrix server = to_updates(data.server, dtype);
    const MatrixXd u = to_matrix(updates.view());
    const MatrixXd s = to_matrix(server.view());
    const auto f = static_cast<std::size_t>(c.f);
    const std::string with_f = "(f=" + std::to_string(c.f) + ")";
    SCOPED_TRACE(c.name + " " + std::string(name(dtype)));
    const double rank_tolerance = dtype == DType::kFloat32 ? 1e-9 : 1e-14;
    {
      SCOPED_TRACE("boba");
      expect_same(run("boba" + with_f, updates, server),
                  boba_oracle(u, s, {.f = f, .rank_tolerance = rank_tolerance}), 1e-6);
    }
    {
      SCOPED_TRACE("boba-no-stage1");
      expect_same(
          run("boba-no-stage1" + with_f, updates, server),
          boba_oracle(u, s,
                      {.f = f, .search = OracleSearch::kServer, .rank_tolerance = rank_tolerance}),
          1e-6);
    }
    {
      SCOPED_TRACE("boba-no-stage2");
      expect_same(
          run("boba-no-stage2" + with_f, updates, server),
          boba_oracle(u, s, {.f = f, .p_min = std::nullopt, .rank_tolerance = rank_tolerance}),
          1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BobaAgainstDSpace, testing::ValuesIn(cases()),
                         [](const auto& which) { return which.param.name; });

TEST(Boba, ClientsFarOutAreRefusedAndLeaveNoTrace) {
  const SkewOptions options{.honest = 30, .byzantine = 5, .classes = 4, .length = 200, .seed = 6};
  const SkewedRound data = make_skewed(options, Forgery::kHuge);
  const MatrixXd honest = data.updates.topRows(30);
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const UpdateMatrix server = to_updates(data.server, dtype);
    const std::vector<std::string> rules = {"boba", "boba-no-stage1", "boba-no-stage2"};
    for (const std::string& rule : rules) {
      const MatrixOutcome alone = run(rule + "(f=0)", to_updates(honest, dtype), server);
      for (double factor : {1e2, 1e4, 1e30}) {
        MatrixXd u = data.updates;
        u.bottomRows(5) *= factor;
        u.row(31) = -u.row(30);
        const MatrixOutcome o = run(rule + "(f=5)", to_updates(u, dtype), server);
        EXPECT_EQ(o.out, alone.out) << rule << " " << factor;
        for (std::size_t i = 0; i < 35; ++i) {
          EXPECT_EQ(o.verdict.clients[i].refused, i >= 30) << rule << " " << factor << " " << i;
        }
      }
    }
  }
}

TEST(Boba, FarOutInTheServersSpanDoesNotShapeTheSubspace) {
  const SkewOptions options{.honest = 30, .byzantine = 5, .classes = 4, .length = 200, .seed = 6};
  const SkewedRound data = make_skewed(options, Forgery::kNone);
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const UpdateMatrix server = to_updates(data.server, dtype);
    const MatrixOutcome alone =
        run("boba(f=0)", to_updates(data.updates.topRows(30), dtype), server);
    for (double t : {1e2, 1e3, 1e4, 1e5, 1e8, 1e12, 1e30}) {
      MatrixXd u = data.updates;
      for (Eigen::Index b = 0; b < 5; ++b) {
        const auto corner = data.server.row(b % 4);
        u.row(30 + b) = corner + t * (corner - data.server.row((b + 1) % 4));
      }
      const MatrixOutcome o = run("boba(f=5)", to_updates(u, dtype), server);
      EXPECT_LT((o.out - alone.out).norm(), 0.05 * alone.out.norm()) << t;
      for (std::size_t i = 30; i < 35; ++i) EXPECT_FALSE(o.verdict.clients[i].accepted) << t;
    }
  }
}

TEST(Boba, ExhaustiveSearchAgreesAndIsNeverWorse) {
  for (Forgery forgery : {Forgery::kNone, Forgery::kIpm, Forgery::kLie, Forgery::kGauss}) {
    const SkewedRound data =
        make_skewed({.honest = 9, .byzantine = 2, .classes = 3, .length = 50, .seed = 7}, forgery);
    const UpdateMatrix updates = to_updates(data.updates, DType::kFloat32);
    const UpdateMatrix server = to_updates(data.server, DType::kFloat32);
    const MatrixOutcome es = run("boba-es(f=2)", updates, server);
    expect_same(es,
                boba_oracle(to_matrix(updates.view()), to_matrix(server.view()),
                            {.f = 2, .search = OracleSearch::kExhaustive, .rank_tolerance = 1e-9}),
                1e-6);
    const MatrixOutcome alternating = run("boba(f=2)", updates, server);
    EXPECT_LE(subspace_of(es.verdict)->trimmed_loss.back(),
              subspace_of(alternating.verdict)->trimmed_loss.back() * (1 + 1e-6));
  }
}

// By hand: corners (0, 0) and (4, 0); clients on the line at 1, 2, 3 and a liar at (2, 9). The
// three honest clients make the line y = 0, the liar projects on (2, 0), the middle: all pass, and
// the mean is (2, 0).
TEST(Boba, GoldenLine) {
  MatrixXd u(4, 2);
  u << 1, 0, 2, 0, 3, 0, 2, 9;
  MatrixXd s(2, 2);
  s << 0, 0, 4, 0;
  const MatrixOutcome r =
      run("boba(f=1)", to_updates(u, DType::kFloat64), to_updates(s, DType::kFloat64));
  EXPECT_NEAR(r.out(0), 2, 1e-12);
  EXPECT_NEAR(r.out(1), 0, 1e-12);
  EXPECT_NEAR(r.verdict.clients[0].label_mix[0], 0.75, 1e-12);
  EXPECT_NEAR(r.verdict.clients[2].label_mix[1], 0.75, 1e-12);
  EXPECT_FALSE(*in_fit(r.verdict.clients[3]));
  EXPECT_TRUE(r.verdict.clients[3].accepted);
  EXPECT_NEAR(measure(r.verdict.clients[3], "residual"), 9, 1e-12);
  EXPECT_EQ(r.verdict.weights[3], 0);
}

// The liar stands on the line itself, at 10 of 4: its shares are -1.5 and 2.5.
TEST(Boba, GoldenRejection) {
  MatrixXd u(5, 2);
  u << 1, 0, 2, 0, 3, 0, 2, 0, 10, 0;
  MatrixXd s(2, 2);
  s << 0, 0, 4, 0;
  const MatrixOutcome r =
      run("boba(f=1)", to_updates(u, DType::kFloat32), to_updates(s, DType::kFloat32));
  EXPECT_NEAR(r.out(0), 2, 1e-6);
  EXPECT_FALSE(r.verdict.clients[4].accepted);
  EXPECT_NEAR(r.verdict.clients[4].label_mix[0], -1.5, 1e-6);
  EXPECT_NE(r.verdict.clients[4].reason.find("share -1.5 of class 0 is below p_min=-0.5"),
            std::string::npos)
      << r.verdict.clients[4].reason;
}

TEST(Boba, UnbiasedWithoutNoiseOrAttack) {
  const SkewedRound data = make_skewed({.noise = 0, .server_noise = 0});
  const MatrixOutcome r = run("boba(f=5)", to_updates(data.updates, DType::kFloat64),
                              to_updates(data.server, DType::kFloat64));
  const VectorXd mean = data.updates.colwise().mean();
  EXPECT_LE((r.out - mean).norm(), 1e-9 * mean.norm());
  for (std::size_t i = 0; i < r.verdict.clients.size(); ++i) {
    for (std::size_t z = 0; z < 4; ++z) {
      EXPECT_NEAR(r.verdict.clients[i].label_mix[z],
                  data.true_mix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(z)), 1e-7);
    }
  }
}

TEST(Boba, WeightsMakeTheResult) {
  const SkewedRound data = make_skewed({.byzantine = 4}, Forgery::kIpm);
  for (const char* spec : {"boba(f=5)", "boba-no-stage1(f=5)", "boba-no-stage2(f=5)"}) {
    const MatrixOutcome r = run(spec, to_updates(data.updates, DType::kFloat64),
                                to_updates(data.server, DType::kFloat64));
    VectorXd sum = VectorXd::Zero(data.updates.cols());
    double total = 0;
    for (std::size_t i = 0; i < r.verdict.weights.size(); ++i) {
      sum += r.verdict.weights[i] * data.updates.row(static_cast<Eigen::Index>(i)).transpose();
      total += r.verdict.weights[i];
    }
    for (std::size_t z = 0; z < r.verdict.server_weights.size(); ++z) {
      sum +=
          r.verdict.server_weights[z] * data.server.row(static_cast<Eigen::Index>(z)).transpose();
      total += r.verdict.server_weights[z];
    }
    EXPECT_NEAR(total, 1, 1e-9) << spec;
    EXPECT_LE((sum - r.out).norm(), 1e-12 * sum.norm()) << spec;
  }
}

TEST(Boba, TrimmedLossNeverIncreases) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    for (Forgery forgery : {Forgery::kNone, Forgery::kIpm, Forgery::kLie, Forgery::kHuge}) {
      const SkewedRound data = make_skewed({.honest = 24,
                                            .byzantine = 6,
                                            .classes = 5,
                                            .length = 60,
                                            .noise = 0.8,
                                            .server_noise = 0.8,
                                            .seed = seed},
                                           forgery);
      const MatrixOutcome r = run("boba(f=6)", to_updates(data.updates, DType::kFloat32),
                                  to_updates(data.server, DType::kFloat32));
      const auto loss = subspace_of(r.verdict)->trimmed_loss;
      for (std::size_t i = 1; i < loss.size(); ++i) {
        EXPECT_LE(loss[i], loss[i - 1] * (1 + 1e-6)) << "seed " << seed << " step " << i;
      }
      EXPECT_EQ(subspace_of(r.verdict)->fits, loss.size());
    }
  }
}

// A poor server sample needs several fits; the first of forty that does is cut short.
TEST(Boba, StopsAtMaxIterAndSaysSo) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const SkewedRound data = make_skewed({.honest = 40,
                                          .byzantine = 9,
                                          .classes = 5,
                                          .length = 60,
                                          .noise = 0.8,
                                          .server_noise = 2,
                                          .seed = seed},
                                         Forgery::kIpm);
    const UpdateMatrix updates = to_updates(data.updates, DType::kFloat64);
    const UpdateMatrix server = to_updates(data.server, DType::kFloat64);
    if (subspace_of(run("boba(f=12)", updates, server).verdict)->fits < 4) continue;
    const MatrixOutcome r = run("boba(f=12,max_iter=1)", updates, server);
    EXPECT_EQ(subspace_of(r.verdict)->fits, 2U);
    EXPECT_FALSE(subspace_of(r.verdict)->converged);
    EXPECT_TRUE(mentions(r.verdict.warnings, "max_iter=1"));
    return;
  }
  FAIL() << "no case needs more than three fits";
}

// Six classes in three dimensions: every update lies in the subspace, and the mean is exact.
TEST(Boba, FewerDimensionsThanClasses) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const SkewedRound data = make_skewed({.honest = 12, .classes = 6, .length = 3, .seed = 5});
    const UpdateMatrix updates = to_updates(data.updates, dtype);
    const MatrixOutcome r = run("boba-no-stage2(f=1)", updates, to_updates(data.server, dtype));
    const VectorXd mean = to_matrix(updates.view()).colwise().mean();
    EXPECT_LE((r.out - mean).norm(), 1e-6 * mean.norm());
    EXPECT_EQ(subspace_of(r.verdict)->rank, 3U);
    EXPECT_TRUE(mentions(r.verdict.warnings, "span 3 of c - 1 = 5 directions"));
  }
}

TEST(Boba, KeepsTheBestWhenTooFewPass) {
  const SkewedRound data = make_skewed({});
  const MatrixOutcome r = run("boba(f=3,p_min=1)", to_updates(data.updates, DType::kFloat64),
                              to_updates(data.server, DType::kFloat64));
  EXPECT_EQ(r.verdict.accepted(), 27U);
  EXPECT_TRUE(mentions(r.verdict.warnings, "passed p_min=1"));
}

// Against d-space, wherever the threshold and the least number of accepted clients are.
TEST(Boba, SlackIsTheLeastNumberOfAcceptedClients) {
  const SkewedRound data =
      make_skewed({.honest = 30, .byzantine = 5, .noise = 0.05, .seed = 7}, Forgery::kIpm);
  const UpdateMatrix updates = to_updates(data.updates, DType::kFloat64);
  const UpdateMatrix server = to_updates(data.server, DType::kFloat64);
  const MatrixXd u = to_matrix(updates.view());
  const MatrixXd s = to_matrix(server.view());
  for (const double p_min : {-0.5, -0.05, 0.01, 0.2}) {
    for (const int slack : {1, 2, 3, 100}) {
      SCOPED_TRACE(testing::Message() << "p_min " << p_min << ", slack " << slack);
      const MatrixOutcome r =
          run("boba(f=5,p_min=" + std::to_string(p_min) + ",slack=" + std::to_string(slack) + ")",
              updates, server);
      expect_same(r,
                  boba_oracle(u, s,
                              {.f = 5,
                               .p_min = p_min,
                               .slack = static_cast<std::size_t>(slack),
                               .rank_tolerance = 1e-14}),
                  1e-6);
      EXPECT_GE(r.verdict.accepted(), slack < 7 ? 35U - 5U * static_cast<unsigned>(slack) : 1U);
    }
  }
  // Nobody has shares of 0.9 in all four classes: only the least number is accepted.
  EXPECT_EQ(run("boba(f=5,p_min=0.9)", updates, server).verdict.accepted(), 30U);
  const MatrixOutcome two = run("boba(f=5,p_min=0.9,slack=2)", updates, server);
  EXPECT_EQ(two.verdict.accepted(), 25U);
  EXPECT_TRUE(mentions(two.verdict.warnings, "the n - 2 f = 25 with the largest"));
  EXPECT_EQ(run("boba(f=5,p_min=0.9,slack=7)", updates, server).verdict.accepted(), 1U);
  EXPECT_EQ(run("boba(f=0,p_min=0.9,slack=7)", updates, server).verdict.accepted(), 35U);
}

TEST(Boba, ReportsTheGuarantee) {
  const SkewedRound good =
      make_skewed({.honest = 40, .byzantine = 4, .noise = 0.01}, Forgery::kIpm);
  const MatrixOutcome holds = run("boba(f=4)", to_updates(good.updates, DType::kFloat64),
                                  to_updates(good.server, DType::kFloat64));
  EXPECT_TRUE(subspace_of(holds.verdict)->guarantee_possible);
  EXPECT_GT(subspace_of(holds.verdict)->sigma_bound, 0);
  EXPECT_LT(subspace_of(holds.verdict)->sigma_bound,
            subspace_of(holds.verdict)->singular_values.back());
  EXPECT_TRUE(mentions(subspace_of(holds.verdict)->statements, "36 >= 4 holds"));

  const MatrixOutcome fails = run("boba(f=21)", to_updates(good.updates, DType::kFloat64),
                                  to_updates(good.server, DType::kFloat64));
  EXPECT_FALSE(subspace_of(fails.verdict)->guarantee_possible);
  EXPECT_TRUE(mentions(fails.verdict.warnings, "n - 2f >= c"));
  EXPECT_TRUE(mentions(subspace_of(fails.verdict)->statements, "2 >= 4 fails"));

  const SkewedRound noisy = make_skewed({.honest = 40, .noise = 5});
  const MatrixOutcome lost = run("boba(f=4)", to_updates(noisy.updates, DType::kFloat64),
                                 to_updates(noisy.server, DType::kFloat64));
  EXPECT_FALSE(subspace_of(lost.verdict)->guarantee_possible);
  EXPECT_TRUE(mentions(subspace_of(lost.verdict)->statements, "does not stand out"));
}

// No subset of n - 2f clients of the fitted set can have a larger least value than the bound is
// allowed to claim: the bound itself is the value of one of them.
TEST(Boba, SigmaBoundIsAnUpperBound) {
  const SkewedRound data = make_skewed({.honest = 8, .classes = 3, .length = 30, .noise = 0.01});
  const MatrixOutcome r = run("boba(f=2)", to_updates(data.updates, DType::kFloat64),
                              to_updates(data.server, DType::kFloat64));
  std::vector<Eigen::Index> set;
  for (std::size_t i = 0; i < 8; ++i) {
    if (*in_fit(r.verdict.clients[i])) set.push_back(static_cast<Eigen::Index>(i));
  }
  ASSERT_EQ(set.size(), 6U);
  double sigma = 1e300;
  for (std::size_t a = 0; a < 6; ++a) {
    for (std::size_t b = a + 1; b < 6; ++b) {
      MatrixXd rows(4, 30);
      Eigen::Index at = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        if (i != a && i != b) rows.row(at++) = data.updates.row(set[i]);
      }
      sigma = std::min(sigma, singular_value(rows, 1));
    }
  }
  EXPECT_LE(sigma, subspace_of(r.verdict)->sigma_bound * (1 + 1e-3));
}

}  // namespace
}  // namespace boba::test
