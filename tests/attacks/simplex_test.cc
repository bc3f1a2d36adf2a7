#include "boba/attacks/simplex.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <string>

#include "boba/rules/registry.h"
#include "tests/support/attacks_rows.h"
#include "tests/support/boba_runner.h"
#include "tests/support/label_skew.h"

namespace boba::testing {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::make_skewed;
using test::SkewedRound;
using test::SkewOptions;
using test::to_matrix;
using test::to_updates;

// The attack in d-space: all corners of the accepted region, and the best of them.
VectorXd plainly(const MatrixXd& honest, const MatrixXd& corners, double least, bool against) {
  const VectorXd mean = honest.colwise().mean();
  VectorXd best;
  double most = -1e300;
  for (Index v = 0; v < corners.rows(); ++v) {
    VectorXd p = VectorXd::Constant(corners.rows(), least);
    p(v) = 1 - static_cast<double>(corners.rows() - 1) * least;
    const VectorXd point = corners.transpose() * p;
    const double score = against ? -(point - mean).dot(mean) : (point - mean).norm();
    if (score > most) {
      most = score;
      best = point;
    }
  }
  return best;
}

// Successive projection in d-space, with the hull's distance by least squares.
MatrixXd corners_plainly(const MatrixXd& honest, int count) {
  const Eigen::RowVectorXd mean = honest.colwise().mean();
  Index next = 0;
  (honest.rowwise() - mean).rowwise().squaredNorm().maxCoeff(&next);
  MatrixXd corners = honest.row(next);
  while (corners.rows() < count) {
    const Eigen::RowVectorXd first = corners.row(0);
    MatrixXd rest = (honest.rowwise() - first).transpose();
    if (corners.rows() > 1) {
      const MatrixXd basis = (corners.bottomRows(corners.rows() - 1).rowwise() - first).transpose();
      rest -= basis * basis.colPivHouseholderQr().solve(rest);
    }
    rest.colwise().squaredNorm().maxCoeff(&next);
    corners.conservativeResize(corners.rows() + 1, Eigen::NoChange);
    corners.row(corners.rows() - 1) = honest.row(next);
  }
  return corners;
}

struct Sent {
  MatrixXd rows;
  AttackReport report;
};

Sent send(const std::string& spec, const MatrixXd& honest, const MatrixXd& server, int b,
          DType dtype) {
  const Result<NamedAttack> made = make_attack(spec);
  const UpdateMatrix seen = to_updates(honest, dtype);
  const UpdateMatrix known = to_updates(server, dtype);
  UpdateMatrix out(dtype, static_cast<std::size_t>(b), seen.length());
  std::vector<MutableRow> rows;
  for (int j = 0; j < b; ++j) rows.push_back(out.row(static_cast<std::size_t>(j)));
  const auto kernels = make_cpu_kernels({.threads = 2});
  const Result<AttackReport> report =
      made->attack->forge(*kernels, {.honest = seen.view(), .server = known.view()}, rows);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {MatrixXd::Zero(b, honest.cols()), {}};
  }
  return {to_matrix(out.view()), *report};
}

TEST(Simplex, AgreesWithDSpace) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const SkewedRound data = make_skewed({.seed = seed});
    for (const bool against : {false, true}) {
      const std::string aim = against ? ",aim=against" : "";
      for (const double p_min : {0.0, -0.2, -0.5, -3.0}) {
        const std::string options = "p_min=" + std::to_string(p_min) + ",margin=0.01" + aim;
        for (const auto& [dtype, rounding] :
             {std::pair{DType::kFloat64, 1e-12}, std::pair{DType::kFloat32, 1e-5}}) {
          const Sent known = send("simplex(" + options + ")", data.updates, data.server, 3, dtype);
          const VectorXd want = plainly(data.updates, data.server, p_min + 0.01, against);
          for (Index j = 0; j < 3; ++j) {
            EXPECT_LT((known.rows.row(j).transpose() - want).norm(), rounding * want.norm());
          }
          const Sent found = send("simplex(" + options + ",classes=4)", data.updates,
                                  MatrixXd::Zero(0, 200), 1, dtype);
          const VectorXd guess =
              plainly(data.updates, corners_plainly(data.updates, 4), p_min + 0.01, against);
          EXPECT_LT((found.rows.row(0).transpose() - guess).norm(), rounding * guess.norm());
        }
      }
    }
  }
}

// All forged rows in front of boba: how many it accepts.
int accepted(const std::string& rule, const MatrixXd& honest, const MatrixXd& forged,
             const MatrixXd& server) {
  MatrixXd all(honest.rows() + forged.rows(), honest.cols());
  all << honest, forged;
  const test::MatrixOutcome outcome =
      test::run(rule, to_updates(all, DType::kFloat64), to_updates(server, DType::kFloat64));
  int count = 0;
  for (std::size_t i = static_cast<std::size_t>(honest.rows()); i < outcome.verdict.clients.size();
       ++i) {
    count += outcome.verdict.clients[i].accepted ? 1 : 0;
  }
  return count;
}

TEST(Simplex, BobaAcceptsTheBoundaryAndNothingBeyond) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const SkewedRound data = make_skewed({.seed = seed});
    for (const char* p_min : {"-0.5", "-0.2", "-0.05"}) {
      const std::string with = std::string("p_min=") + p_min;
      const std::string rule = "boba(f=6," + with + ")";
      const auto tried = [&](const char* margin) {
        const Sent sent = send("simplex(" + with + ",margin=" + margin + ")", data.updates,
                               data.server, 5, DType::kFloat64);
        return accepted(rule, data.updates, sent.rows, data.server);
      };
      EXPECT_EQ(tried("0.000001"), 5) << seed << " " << p_min;
      EXPECT_EQ(tried("-0.000001"), 0) << seed << " " << p_min;
    }
  }
}

// b copies move the mean of n by b/n of their distance, which the report tells; a looser p_min
// moves it further.
TEST(Simplex, MovesBobaAsFarAsItSays) {
  const SkewedRound data = make_skewed({.noise = 1e-6, .server_noise = 1e-6});
  const VectorXd mean = data.updates.colwise().mean();
  double before = 0;
  for (const char* p_min : {"-0.05", "-0.2", "-0.5"}) {
    const std::string with = std::string("p_min=") + p_min;
    const Sent sent = send("simplex(" + with + ")", data.updates, data.server, 5, DType::kFloat64);
    MatrixXd all(35, 200);
    all << data.updates, sent.rows;
    const test::MatrixOutcome outcome =
        test::run("boba(f=6," + with + ")", to_updates(all, DType::kFloat64),
                  to_updates(data.server, DType::kFloat64));
    const double moved = (outcome.out - mean).norm();
    EXPECT_NEAR(moved, 5.0 / 35 * sent.report.measures[3].value, 1e-4);
    EXPECT_GT(moved, 1.3 * before);
    before = moved;
  }
}

TEST(Simplex, FindsPureClientsAmongMixes) {
  // Rows 2, 4 and 5 are the corners of a triangle; the others lie inside.
  const AttackRows<double> honest({{1, 1}, {2, 1}, {0, 0}, {1, 2}, {9, 0}, {0, 8}});
  const auto forged = forge("simplex(classes=3,p_min=-1,margin=0)", honest, 2);
  ASSERT_TRUE(forged.ok) << forged.error.message;
  EXPECT_EQ(forged.measure("corners"), 3);
  EXPECT_EQ(forged.measure("share"), 3);
  // Mean (13/6, 2). The corners of the region: 3(9,0)-(0,0)-(0,8) = (27,-8), (-9,24), (-9,-8).
  EXPECT_NEAR(forged.rows[0][0], 27, 1e-9);
  EXPECT_NEAR(forged.rows[1][1], -8, 1e-9);
}

TEST(Simplex, LessThanAllCornersWhereRowsSpanLess) {
  const AttackRows<double> equal({{1, 2}, {1, 2}, {1, 2}});
  const auto same = forge("simplex(classes=4)", equal, 1);
  ASSERT_TRUE(same.ok) << same.error.message;
  EXPECT_EQ(same.measure("corners"), 1);
  EXPECT_EQ(same.rows[0], equal.rows[0]);
  const AttackRows<double> line({{0, 0}, {1, 1}, {4, 4}});
  EXPECT_EQ(forge("simplex(classes=4)", line, 1).measure("corners"), 2);
}

TEST(Simplex, NeedsCornersFromSomewhere) {
  const AttackRows<double> honest({{1, 2}, {3, 4}});
  EXPECT_EQ(forge("simplex", honest, 1).error.message,
            "simplex needs the server's class gradients, or classes=c to look for c corners among "
            "the honest updates");
  const AttackRows<double> bad({{1, 2}, {std::nan(""), 4}});
  EXPECT_EQ(forge("simplex", honest, 1, {.server = bad.view()}).error.message,
            "simplex needs finite server gradients; row 1 has NaN or infinity");
  EXPECT_FALSE(make_attack("simplex(p_min=0.1)"));
  EXPECT_FALSE(make_attack("simplex(p_min=auto)"));
  EXPECT_FALSE(make_simplex({.margin = std::nan("")}));
}

TEST(Simplex, HugeRowsAreAnErrorOrAnOverflow) {
  const AttackRows<double> huge({{1e300, 2}, {-1e300, 4}, {0, 1e300}});
  EXPECT_FALSE(forge("simplex(classes=3)", huge, 1).ok);
  const AttackRows<float> wide({{3e38f, 0}, {-3e38f, 0}, {0, 3e38f}});
  const auto forged = forge("simplex(classes=3)", wide, 1);
  if (forged.ok) {
    EXPECT_EQ(forged.measure("overflow"), 1);
  }
}

}  // namespace
}  // namespace boba::testing
