// boba-hull in n-space against the same rule written plainly in d-space, and rounds by hand.
#include "boba/rules/boba_hull.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/boba_runner.h"
#include "tests/support/hull_oracle.h"
#include "tests/support/label_skew.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

struct Case {
  std::string name;
  SkewOptions data;
  int f = 0;
};

std::vector<Case> cases() {
  return {
      {"four_classes", {.honest = 30, .byzantine = 5}, 5},
      {"more_tolerated", {.honest = 30, .byzantine = 5}, 8},
      {"poor_server", {.honest = 30, .byzantine = 5, .noise = 0.3, .server_noise = 1}, 6},
      {"close_classes", {.honest = 30, .byzantine = 5, .close_pair = 0.2, .noise = 0.1}, 5},
      {"far_from_zero", {.honest = 30, .byzantine = 5, .common = 30}, 5},
      {"six_classes", {.honest = 40, .byzantine = 6, .classes = 6, .length = 90}, 6},
      {"two_classes", {.honest = 12, .byzantine = 3, .classes = 2, .length = 40}, 3},
      {"one_class", {.honest = 12, .byzantine = 3, .classes = 1, .length = 40}, 3},
      {"as_many_dimensions", {.honest = 20, .byzantine = 3, .classes = 4, .length = 4}, 3},
  };
}

constexpr Forgery kForgeries[] = {Forgery::kNone, Forgery::kIpm,   Forgery::kGauss,
                                  Forgery::kLie,  Forgery::kMimic, Forgery::kHuge};

class HullAgainstDSpace : public testing::TestWithParam<Case> {};

// What may differ: twice for distances, which are roots of differences of squares.
struct Tolerance {
  double out;
  double distance;
  double margin;  // decisions nearer than this are left to rounding
};
Tolerance tolerance_of(DType dtype) {
  if (dtype == DType::kFloat64) return {1e-9, 1e-6, 1e-6};
  return {1e-6, 2e-3, 4e-3};
}

void expect_same(const MatrixOutcome& run, const HullAnswer& oracle, DType dtype) {
  const Tolerance allowed = tolerance_of(dtype);
  EXPECT_LE((run.out - oracle.out).norm(), allowed.out * oracle.out.norm());
  const auto& measures = run.verdict.measures;
  ASSERT_GE(measures.size(), 2U);
  EXPECT_NEAR(measures[0].value, oracle.typical, allowed.distance * oracle.typical);
  EXPECT_EQ(measures[1].value, static_cast<double>(oracle.passes));
  if (measures.size() > 2) {
    EXPECT_EQ(measures[2].name, "corners");
    EXPECT_EQ(measures[2].value, static_cast<double>(oracle.corners));
  }
  for (std::size_t i = 0; i < run.verdict.clients.size(); ++i) {
    const ClientVerdict& client = run.verdict.clients[i];
    EXPECT_EQ(client.accepted, oracle.accepted[i]) << "client " << i << ": " << client.reason;
    if (oracle.refused[i]) {
      EXPECT_TRUE(client.refused);
      continue;
    }
    const double multiple = oracle.distance[i] / oracle.typical;
    // Squares are what products give; those of small distances are differences of large ones.
    const double found = measure(client, "distance");
    EXPECT_NEAR(found * found, multiple * multiple, allowed.distance * (1 + multiple * multiple))
        << i;
    ASSERT_EQ(client.label_mix.size(), static_cast<std::size_t>(oracle.mix.cols()));
    for (std::size_t z = 0; z < client.label_mix.size(); ++z) {
      const double share = oracle.mix(static_cast<Index>(i), static_cast<Index>(z));
      EXPECT_NEAR(client.label_mix[z], share, allowed.distance) << "client " << i;
      EXPECT_GE(client.label_mix[z], 0);
    }
  }
}

std::string spec(int f, Index classes, double kappa = 4) {
  std::string text = "boba-hull(f=" + std::to_string(f);
  if (kappa != 4) text += ",kappa=" + std::to_string(kappa);
  if (classes > 0) text += ",classes=" + std::to_string(classes);
  if (classes < 0) text += ",classes=auto";
  return text + ")";
}

// Rows that every rule refuses, because they lie 2^20 times as far out as the others, as such rows.
MatrixXd without_far(const UpdateMatrix& updates, const Verdict& verdict) {
  MatrixXd rows = to_matrix(updates.view());
  VectorXd norms = rows.rowwise().norm();
  const VectorXd sizes = norms;
  std::sort(norms.begin(), norms.end());
  for (const ClientVerdict& client : verdict.clients) {
    if (!client.refused) continue;
    const auto i = static_cast<Index>(client.index);
    EXPECT_GT(sizes(i), 1e4 * norms(norms.size() / 2)) << client.reason;
    rows.row(i).setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  return rows;
}

// Compares many rounds; those that hang on rounding are left out, which few are.
enum class Corners { kServer, kFound, kAuto };
void compare(const Case& c, Corners corners, double kappa) {
  int compared = 0;
  int left_out = 0;
  for (const Forgery forgery : kForgeries) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SkewOptions data = c.data;
      data.seed = seed;
      const SkewedRound round = make_skewed(data, forgery);
      for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
        const UpdateMatrix updates = to_updates(round.updates, dtype);
        const UpdateMatrix server = to_updates(round.server, dtype);
        const Index classes = corners == Corners::kServer  ? 0
                              : corners == Corners::kFound ? round.server.rows()
                                                           : -1;
        const HullOracleOptions options = {
            .f = static_cast<std::size_t>(c.f), .kappa = kappa, .classes = classes};
        const MatrixOutcome got = run(spec(c.f, classes, kappa), updates, server);
        const HullAnswer expected =
            HullOracle(options).round(without_far(updates, got.verdict), to_matrix(server.view()));
        if (expected.margin < tolerance_of(dtype).margin) {
          ++left_out;
          continue;
        }
        SCOPED_TRACE(testing::Message() << c.name << ", forgery " << static_cast<int>(forgery)
                                        << ", seed " << seed << ", " << name(dtype));
        expect_same(got, expected, dtype);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 2 * left_out) << left_out << " rounds were left out";
}

TEST_P(HullAgainstDSpace, WithTheServersRows) { compare(GetParam(), Corners::kServer, 4); }
TEST_P(HullAgainstDSpace, WithASmallReach) { compare(GetParam(), Corners::kServer, 1.3); }
TEST_P(HullAgainstDSpace, WithoutServerData) { compare(GetParam(), Corners::kFound, 4); }
TEST_P(HullAgainstDSpace, WithCornersThatStandOut) { compare(GetParam(), Corners::kAuto, 4); }

INSTANTIATE_TEST_SUITE_P(Cases, HullAgainstDSpace, testing::ValuesIn(cases()),
                         [](const auto& which) { return which.param.name; });

MatrixXd rows_of(const std::vector<std::vector<double>>& rows) {
  MatrixXd matrix(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < rows[i].size(); ++k) {
      matrix(static_cast<Index>(i), static_cast<Index>(k)) = rows[i][k];
    }
  }
  return matrix;
}

MatrixOutcome run_rows(const std::string& rule, const MatrixXd& updates, const MatrixXd& server,
                       DType dtype = DType::kFloat64) {
  return run(rule, to_updates(updates, dtype), to_updates(server, dtype));
}

double of_round(const Verdict& verdict, std::string_view name) {
  for (const NamedValue& m : verdict.measures) {
    if (m.name == name) return m.value;
  }
  ADD_FAILURE() << "no measure " << name;
  return 0;
}

// By hand: corners (0, 0) and (4, 0), clients beside the line at distance 1 and a liar at (2, 5).
// The four make the line y = 0 again; their distances are 1, the liar's 5.
TEST(BobaHull, GoldenLine) {
  const MatrixXd u = rows_of({{0, 1}, {0, -1}, {4, 1}, {4, -1}, {2, 5}});
  const MatrixXd s = rows_of({{0, 0}, {4, 0}});
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const MatrixOutcome r = run_rows("boba-hull(f=1)", u, s, dtype);
    EXPECT_NEAR(r.out(0), 2, 1e-12);
    EXPECT_NEAR(r.out(1), 0, 1e-12);
    EXPECT_EQ(r.verdict.weights, (std::vector<double>{0.25, 0.25, 0.25, 0.25, 0}));
    EXPECT_NEAR(of_round(r.verdict, "typical_distance"), 1, 1e-12);
    EXPECT_EQ(of_round(r.verdict, "passes"), 2);
    EXPECT_NEAR(measure(r.verdict.clients[4], "distance"), 5, 1e-11);
    EXPECT_NEAR(measure(r.verdict.clients[0], "distance"), 1, 1e-11);
    EXPECT_NEAR(r.verdict.clients[0].label_mix[0], 1, 1e-12);
    EXPECT_NEAR(r.verdict.clients[4].label_mix[0], 0.5, 1e-12);
    EXPECT_EQ(r.verdict.clients[4].reason,
              "rejected: 5 typical distances from the simplex of the classes; at most 4 are "
              "allowed");
    EXPECT_EQ(r.verdict.clients[3].reason,
              "accepted: 1 typical distances from the simplex of the classes");
    EXPECT_TRUE(r.verdict.warnings.empty()) << r.verdict.warnings.front();
    EXPECT_TRUE(mentions(r.verdict.notes, "no memory of earlier rounds"));
  }
  // With kappa = 6 he passes, and pulls the mean to (2, 1).
  const MatrixOutcome wide = run_rows("boba-hull(f=1,kappa=6)", u, s);
  EXPECT_EQ(wide.verdict.accepted(), 5U);
  EXPECT_NEAR(wide.out(1), 1, 1e-12);
}

// By hand: the server puts the second corner at 2, the clients know that it is at 4. From the
// second pass on it is where 2 (2 - C)^2 + (0 - C)^2 / 10 is least, about the middle: 4/2.1.
TEST(BobaHull, GoldenRefinement) {
  const MatrixXd u = rows_of({{0, 1}, {0, -1}, {4, 1}, {4, -1}});
  const MatrixOutcome r = run_rows("boba-hull", u, rows_of({{0, 0}, {2, 0}}));
  const double off = 2 - 4 / 2.1;
  const double distance = std::sqrt(off * off + 1);
  EXPECT_NEAR(of_round(r.verdict, "typical_distance"), distance, 1e-12);
  EXPECT_NEAR(measure(r.verdict.clients[0], "distance"), 1 / distance, 1e-12);
  EXPECT_NEAR(measure(r.verdict.clients[2], "distance"), 1, 1e-12);
  EXPECT_EQ(r.verdict.clients[2].label_mix, (std::vector<double>{0, 1}));
  EXPECT_EQ(r.verdict.accepted(), 4U);
  EXPECT_NEAR(r.out(0), 2, 1e-12);
}

// By hand: all clients but the liar stand on the line, so the typical distance is 0 and nobody off
// the simplex passes. The liar stands on the line too, beyond its end. Nobody is near enough to
// another to be a copy.
TEST(BobaHull, GoldenWithoutNoise) {
  const MatrixXd s = rows_of({{0, 0}, {4, 0}});
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const MatrixOutcome r = run_rows(
        "boba-hull(f=1)", rows_of({{1, 0}, {1.5, 0}, {3, 0}, {2.5, 0}, {10, 0}}), s, dtype);
    EXPECT_EQ(r.verdict.weights, (std::vector<double>{0.25, 0.25, 0.25, 0.25, 0}));
    EXPECT_NEAR(r.out(0), 2, 1e-12);
    EXPECT_EQ(of_round(r.verdict, "typical_distance"), 0);
    EXPECT_EQ(measure(r.verdict.clients[1], "distance"), 0);
    EXPECT_NEAR(r.verdict.clients[0].label_mix[0], 0.75, 1e-6);
    EXPECT_NEAR(r.verdict.clients[4].label_mix[1], 1, 1e-6);
  }
}

// By hand, with f = 1: of the two clients at (2, 0) the first counts, and of the four that count
// the three on the line pass. Two groups of two are more copies than f, so all count.
TEST(BobaHull, GoldenCopies) {
  const MatrixXd s = rows_of({{0, 0}, {4, 0}});
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const MatrixOutcome r =
        run_rows("boba-hull(f=1)", rows_of({{1, 0}, {2, 0}, {3, 0}, {2, 0}, {10, 0}}), s, dtype);
    const double third = 1.0 / 3;
    EXPECT_EQ(r.verdict.weights, (std::vector<double>{third, third, third, 0, 0}));
    EXPECT_NEAR(r.out(0), 2, 1e-6);
    EXPECT_EQ(r.verdict.clients[3].copy_of, 1U);
    EXPECT_EQ(r.verdict.clients[3].reason,
              "rejected: a copy of another client's update; each group of copies counts once");
    const MatrixOutcome two = run_rows(
        "boba-hull(f=1)", rows_of({{1, 0}, {2, 0}, {3, 0}, {2, 0}, {1, 0}, {10, 0}}), s, dtype);
    EXPECT_EQ(two.verdict.weights, (std::vector<double>{0.2, 0.2, 0.2, 0.2, 0.2, 0}));
  }
}

// Corners found among the clients: (0, 0), (8, 0) and (0, 8) and mixes of them. The liar at
// (90, 90) is not among the n - f nearest to the middle.
TEST(BobaHull, GoldenWithoutServerData) {
  const MatrixXd u =
      rows_of({{2, 2}, {0, 0}, {8, 0}, {4, 4}, {0, 8}, {2, 4}, {90, 90}, {4, 2}, {1, 1}});
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const MatrixOutcome r = run_rows("boba-hull(f=1,classes=3)", u, MatrixXd(0, 2), dtype);
    EXPECT_EQ(r.verdict.accepted(), 8U);
    EXPECT_FALSE(r.verdict.clients[6].accepted);
    EXPECT_NEAR(r.out(0), 21.0 / 8, 1e-6);
    EXPECT_NEAR(r.out(1), 21.0 / 8, 1e-6);
    // (4, 4) is half of each of the two far corners, whatever their order.
    std::vector<double> mix = r.verdict.clients[3].label_mix;
    std::sort(mix.begin(), mix.end());
    ASSERT_EQ(mix.size(), 3U);
    EXPECT_NEAR(mix[0], 0, 1e-6);
    EXPECT_NEAR(mix[1], 0.5, 1e-6);
  }
}

// One class: the simplex is a point, the mean of those that are fitted.
TEST(BobaHull, GoldenOneClass) {
  const MatrixXd u = rows_of({{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {0, 7}});
  for (const char* rule : {"boba-hull(f=1)", "boba-hull(f=1,classes=1)"}) {
    const MatrixOutcome r = run_rows(rule, u, rows_of({{0, 0}}));
    EXPECT_EQ(r.verdict.weights, (std::vector<double>{0.25, 0.25, 0.25, 0.25, 0})) << rule;
    EXPECT_NEAR(measure(r.verdict.clients[4], "distance"), 7, 1e-12) << rule;
    EXPECT_EQ(r.verdict.clients[4].label_mix, std::vector<double>{1}) << rule;
  }
}

// Too few pass: the nearest of the others are taken until n - 2f are.
TEST(BobaHull, AcceptsTheNearestWhenTooFewPass) {
  const MatrixXd s = rows_of({{0, 0}, {8, 0}});
  // The middle client is 3 away, so that with kappa = 1 the two farther ones fail, then with
  // f = 0 come back.
  const MatrixXd u = rows_of({{0, 1}, {8, -1}, {0, -3}, {8, 5}, {4, -7}});
  const MatrixOutcome all = run_rows("boba-hull(kappa=1,max_passes=1)", u, s);
  EXPECT_EQ(all.verdict.accepted(), 5U);
  EXPECT_TRUE(mentions(all.verdict.warnings,
                       "3 clients passed, fewer than n - 2f = 5: the nearest of the others were "
                       "accepted too"));
  EXPECT_NE(all.verdict.clients[4].reason.find("accepted to have n - 2f: 2.33 typical distances"),
            std::string::npos)
      << all.verdict.clients[4].reason;
  // n - 2f = 3 passed.
  const MatrixOutcome three = run_rows("boba-hull(f=1,kappa=1,max_passes=1)", u, s);
  EXPECT_EQ(three.verdict.accepted(), 3U);
  EXPECT_FALSE(mentions(three.verdict.warnings, "fewer than n - 2f"));
  EXPECT_NEAR(three.out(1), -1, 1e-12);
}

TEST(BobaHull, EveryWeightIsOneOverTheAccepted) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Forgery forgery : kForgeries) {
      const SkewedRound data = make_skewed({.byzantine = 6, .noise = 0.3, .seed = seed}, forgery);
      for (const char* rule : {"boba-hull(f=6)", "boba-hull(f=6,classes=4)",
                               "boba-hull(f=2,kappa=1)", "boba-hull(f=20)"}) {
        const MatrixOutcome r = run_rows(rule, data.updates, data.server);
        const double weight = 1 / static_cast<double>(r.verdict.accepted());
        VectorXd sum = VectorXd::Zero(data.updates.cols());
        for (std::size_t i = 0; i < 36; ++i) {
          EXPECT_EQ(r.verdict.weights[i], r.verdict.clients[i].accepted ? weight : 0);
          sum += r.verdict.weights[i] * data.updates.row(static_cast<Index>(i)).transpose();
        }
        EXPECT_LE((sum - r.out).norm(), 1e-12 * sum.norm()) << rule;
        for (const double w : r.verdict.server_weights) EXPECT_EQ(w, 0);
      }
    }
  }
}

// The mean of honest clients whose classes all are held, however rare one of them.
TEST(BobaHull, AcceptsEveryoneWithoutAttackers) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SkewedRound data = make_skewed({.honest = 40, .noise = 0.1, .seed = seed});
    for (const char* rule : {"boba-hull(f=8)", "boba-hull(f=8,classes=4)"}) {
      const MatrixOutcome r = run_rows(rule, data.updates, data.server);
      EXPECT_EQ(r.verdict.accepted(), 40U) << rule << ", seed " << seed;
    }
  }
}

TEST(BobaHull, ThePermutationOfClientsIsNoMatter) {
  for (const char* rule : {"boba-hull(f=5)", "boba-hull(f=5,classes=4)"}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const SkewedRound data = make_skewed({.byzantine = 5, .seed = seed}, Forgery::kIpm);
      const Index n = data.updates.rows();
      MatrixXd turned(n, data.updates.cols());
      const auto from = [&](Index i) { return (17 * i + 4) % n; };
      for (Index i = 0; i < n; ++i) turned.row(i) = data.updates.row(from(i));
      const MatrixOutcome a = run_rows(rule, data.updates, data.server);
      const MatrixOutcome b = run_rows(rule, turned, data.server);
      EXPECT_LE((a.out - b.out).norm(), 1e-12 * a.out.norm()) << rule;
      for (Index i = 0; i < n; ++i) {
        const ClientVerdict& one = a.verdict.clients[static_cast<std::size_t>(from(i))];
        const ClientVerdict& other = b.verdict.clients[static_cast<std::size_t>(i)];
        EXPECT_EQ(one.accepted, other.accepted) << rule << ", seed " << seed;
        EXPECT_NEAR(measure(one, "distance"), measure(other, "distance"),
                    1e-6 * (1 + measure(one, "distance")));
      }
    }
  }
}

// The order of the server's rows names the classes and changes nothing else.
TEST(BobaHull, TheOrderOfClassesOnlyRenamesThem) {
  const SkewedRound data = make_skewed({.byzantine = 5}, Forgery::kGauss);
  const MatrixXd turned = data.server.colwise().reverse();
  const MatrixOutcome a = run_rows("boba-hull(f=5)", data.updates, data.server);
  const MatrixOutcome b = run_rows("boba-hull(f=5)", data.updates, turned);
  EXPECT_LE((a.out - b.out).norm(), 1e-12 * a.out.norm());
  for (std::size_t i = 0; i < 35; ++i) {
    std::vector<double> mix = b.verdict.clients[i].label_mix;
    std::reverse(mix.begin(), mix.end());
    for (std::size_t z = 0; z < 4; ++z) {
      EXPECT_NEAR(a.verdict.clients[i].label_mix[z], mix[z], 1e-9);
    }
  }
}

// Shifting clients and server rows alike shifts the result; without server rows it is the rule's
// trait.
TEST(BobaHull, ShiftsWithAllRows) {
  for (const char* rule : {"boba-hull(f=5)", "boba-hull(f=5,classes=4)"}) {
    for (const double far : {1.0, 1e3, 1e6}) {
      const SkewedRound data = make_skewed({.byzantine = 5, .seed = 3}, Forgery::kIpm);
      RowVectorXd by = RowVectorXd::LinSpaced(data.updates.cols(), -far, far);
      const MatrixOutcome a = run_rows(rule, data.updates, data.server);
      const MatrixOutcome b =
          run_rows(rule, data.updates.rowwise() + by, data.server.rowwise() + by);
      EXPECT_LE((b.out - by.transpose() - a.out).norm(), 1e-11 * (1 + far)) << rule << far;
      EXPECT_EQ(a.verdict.weights, b.verdict.weights) << rule << far;
    }
  }
}

TEST(BobaHull, ScalesExactlyByPowersOfTwo) {
  for (const char* rule : {"boba-hull(f=5)", "boba-hull(f=5,classes=4)"}) {
    const SkewedRound data = make_skewed({.byzantine = 5, .seed = 3}, Forgery::kIpm);
    const MatrixOutcome a = run_rows(rule, data.updates, data.server);
    for (const double size : {0x1p-200, 0x1p-30, 0x1p30, 0x1p200}) {
      const MatrixOutcome b = run_rows(rule, size * data.updates, size * data.server);
      EXPECT_EQ(b.out, size * a.out) << rule << size;
      EXPECT_EQ(a.verdict.weights, b.verdict.weights) << rule << size;
      EXPECT_EQ(of_round(b.verdict, "typical_distance"),
                size * of_round(a.verdict, "typical_distance"));
    }
  }
}

TEST(BobaHull, ThreadsDoNotChangeABit) {
  const SkewedRound data =
      make_skewed({.honest = 40, .byzantine = 8, .classes = 5, .length = 9000}, Forgery::kLie);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const UpdateMatrix updates = to_updates(data.updates, dtype);
    const UpdateMatrix server = to_updates(data.server, dtype);
    for (const char* rule : {"boba-hull(f=8)", "boba-hull(f=8,classes=5)"}) {
      const MatrixOutcome one = run(rule, updates, server, 1);
      for (const int threads : {2, 3}) {
        const MatrixOutcome more = run(rule, updates, server, threads);
        EXPECT_EQ(one.out, more.out) << rule;
        for (std::size_t i = 0; i < 48; ++i) {
          EXPECT_EQ(one.verdict.clients[i].label_mix, more.verdict.clients[i].label_mix) << rule;
          EXPECT_EQ(measure(one.verdict.clients[i], "distance"),
                    measure(more.verdict.clients[i], "distance"));
        }
      }
    }
  }
}

TEST(BobaHull, RefusedRowsLeaveNoTrace) {
  const SkewedRound data = make_skewed({.byzantine = 5, .seed = 6}, Forgery::kIpm);
  const MatrixOutcome alone = run_rows("boba-hull(f=5)", data.updates, data.server);
  for (const double poison : {std::numeric_limits<double>::quiet_NaN(),
                              -std::numeric_limits<double>::infinity(), 1e200, 1e14}) {
    MatrixXd more(37, data.updates.cols());
    more.topRows(35) = data.updates;
    more.row(35) = RowVectorXd::Constant(data.updates.cols(), poison);
    more.row(36) = -more.row(35);
    more.row(20).swap(more.row(35));
    const MatrixOutcome r = run_rows("boba-hull(f=7)", more, data.server);
    EXPECT_EQ(r.verdict.refused, 2U) << poison;
    EXPECT_LE((r.out - alone.out).norm(), 1e-12 * alone.out.norm()) << poison;
    for (const std::size_t i : {20U, 36U}) {
      EXPECT_TRUE(r.verdict.clients[i].refused) << poison;
      EXPECT_EQ(r.verdict.weights[i], 0) << poison;
    }
    EXPECT_EQ(r.verdict.accepted(), alone.verdict.accepted());
  }
}

// Liars in the server's own plane, beyond its simplex, at every distance.
TEST(BobaHull, LiarsInTheServersPlaneAreRejected) {
  for (const double t : {1.0, 30.0, 1e3, 1e5, 1e8, 1e30}) {
    const SkewedRound data = make_skewed({.byzantine = 7, .seed = 6});
    MatrixXd u = data.updates;
    for (Index b = 0; b < 7; ++b) {
      const auto corner = data.server.row(b % 4);
      u.row(30 + b) = corner + t * (corner - data.server.row((b + 1) % 4));
    }
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      const MatrixOutcome r = run_rows("boba-hull(f=7)", u, data.server, dtype);
      for (std::size_t i = 0; i < 37; ++i) {
        EXPECT_EQ(r.verdict.clients[i].accepted, i < 30) << t << " " << name(dtype) << " " << i;
      }
    }
  }
}

// Classes whose rows coincide share one corner; more dependent ones a plane of fewer dimensions.
TEST(BobaHull, ServerRowsThatDependOnEachOther) {
  const SkewedRound data = make_skewed({.byzantine = 4, .seed = 8}, Forgery::kIpm);
  MatrixXd twins = data.server;
  twins.row(2) = twins.row(1);
  MatrixXd line = data.server;
  line.row(1) = 0.5 * (line.row(0) + line.row(3));
  line.row(2) = 0.25 * line.row(0) + 0.75 * line.row(3);
  for (const MatrixXd& server : {twins, line}) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      const MatrixOutcome r = run_rows("boba-hull(f=6)", data.updates, server, dtype);
      EXPECT_TRUE(r.out.allFinite());
      for (std::size_t i = 30; i < 34; ++i) EXPECT_FALSE(r.verdict.clients[i].accepted);
      EXPECT_GE(r.verdict.accepted(), 34U - 12U);
      for (const ClientVerdict& client : r.verdict.clients) {
        double sum = 0;
        for (const double share : client.label_mix) sum += share;
        EXPECT_NEAR(sum, 1, 1e-12);
      }
    }
  }
  // From the clients' plane on, the dimensions are back; with two dimensions they never are.
  const SkewedRound flat = make_skewed({.honest = 12, .classes = 6, .length = 3, .seed = 5});
  const MatrixOutcome r = run_rows("boba-hull(f=1)", flat.updates, flat.server);
  EXPECT_TRUE(mentions(r.verdict.notes, "span 3 of c - 1 = 5 directions"));
}

TEST(BobaHull, EqualServerRowsNameNoClass) {
  const SkewedRound data = make_skewed({.classes = 3});
  MatrixXd server = data.server;
  server.row(1) = server.row(0);
  server.row(2) = server.row(0);
  const UpdateMatrix updates = to_updates(data.updates, DType::kFloat32);
  const UpdateMatrix equal = to_updates(server, DType::kFloat32);
  const Result<MatrixOutcome> r = try_run("boba-hull(f=1)", updates.view(), equal.view());
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message,
            "boba-hull: the 3 server gradients are all equal, so they name no classes; compute "
            "each on the samples of one class");
  // A rule that finds the corners itself does not look at them.
  EXPECT_TRUE(try_run("boba-hull(f=1,classes=3)", updates.view(), equal.view()));
}

TEST(BobaHull, EqualClientsAreTheirOwnMean) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const char* rule : {"boba-hull(f=2)", "boba-hull(f=2,classes=3)"}) {
      const SkewedRound data = make_skewed({.classes = 3, .length = 20});
      MatrixXd u(9, 20);
      u.rowwise() = RowVectorXd(data.updates.row(0));
      const MatrixOutcome r = run_rows(rule, u, data.server, dtype);
      EXPECT_EQ(r.verdict.accepted(), 9U) << rule;
      EXPECT_LE((r.out - u.row(0).transpose()).norm(), 1e-6 * r.out.norm()) << rule;
    }
  }
}

TEST(BobaHull, SaysWhatItNeeds) {
  const SkewedRound data = make_skewed({.honest = 6, .classes = 4, .length = 9});
  const UpdateMatrix updates = to_updates(data.updates, DType::kFloat64);
  const auto error = [&](const char* rule, const UpdateView& server) {
    const Result<MatrixOutcome> r = try_run(rule, updates.view(), server);
    return r ? std::string() : r.error().message;
  };
  EXPECT_EQ(error("boba-hull(f=1)", {}),
            "boba-hull needs server gradients, one per class; got none. Without server data, tell "
            "it the number of classes, or classes=auto: boba-hull(f=..., classes=10)");
  const UpdateMatrix server = to_updates(data.server, DType::kFloat64);
  EXPECT_EQ(error("boba-hull(f=6)", server.view()), "boba-hull needs n - f >= 1; got n=6, f=6");
  EXPECT_EQ(error("boba-hull(f=3,classes=4)", {}),
            "boba-hull(classes=4) looks for the corners among n - f clients and needs as many; "
            "n - f is 3");
  EXPECT_EQ(error("boba-hull(f=2,classes=4)", {}), "");
  EXPECT_EQ(error("boba-hull(f=5)", server.view()), "");
}

TEST(BobaHull, WarnsWhereTheGuaranteeIsMissed) {
  const SkewedRound data = make_skewed({.honest = 12, .classes = 4, .length = 50});
  const auto warnings = [&](const std::string& rule) {
    return run_rows(rule, data.updates, data.server).verdict.warnings;
  };
  EXPECT_TRUE(warnings("boba-hull(f=4)").empty());
  EXPECT_TRUE(mentions(warnings("boba-hull(f=5)"), "n - 2f >= c is needed; got n=12, f=5, c=4"));
  EXPECT_TRUE(mentions(warnings("boba-hull(f=5,classes=4)"), "n - 2f >= c is needed"));
  EXPECT_TRUE(mentions(warnings("boba-hull(f=6)"), "n > 2f; got n=12, f=6"));
  EXPECT_TRUE(mentions(warnings("boba-hull"), "f=0 tolerates no Byzantine client"));
  EXPECT_TRUE(mentions(warnings("boba-hull(f=4,max_passes=1)"),
                       "the fit stopped after max_passes=1 planes"));
  // The first warning comes first.
  EXPECT_EQ(warnings("boba-hull(f=6)").front(),
            "most clients must be honest, n > 2f; got n=12, f=6");
}

}  // namespace
}  // namespace boba::test
