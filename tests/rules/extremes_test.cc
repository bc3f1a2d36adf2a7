// Rounds at the ends of the number range, and refusals where no product is asked for.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/boba_runner.h"
#include "tests/support/label_skew.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd noise(Index rows, Index length) {
  return make_skewed({.honest = static_cast<int>(rows), .length = static_cast<int>(length)})
      .updates;
}

MatrixOutcome run_rows(const std::string& spec, const MatrixXd& updates, const MatrixXd& server,
                       DType dtype = DType::kFloat64) {
  return run(spec, to_updates(updates, dtype), to_updates(server, dtype));
}

// Squares of squared norms overflow double here: rage must end, and keep its mean.
TEST(Extremes, RageEndsWhateverTheSize) {
  for (double size : {1e-160, 1e-120, 1e60, 1e80, 1e100, 1e140, 1e149}) {
    MatrixXd updates = noise(10, 20);
    const VectorXd mean = updates.topRows(9).colwise().mean();
    updates.row(9) *= size;
    const MatrixOutcome r = run_rows("rage(f=1)", updates, MatrixXd(0, 20));
    if (size > 1) {
      EXPECT_LE((r.out - mean).norm(), 1e-9 * mean.norm()) << size;
    }
  }
  for (double size : {1e-157, 1e148}) {
    const MatrixXd updates = noise(10, 20) * size;
    const MatrixOutcome r = run_rows("rage(f=2)", updates, MatrixXd(0, 20));
    EXPECT_TRUE(std::isfinite(r.out.norm())) << size;
  }
}

// Squares of 1e-162 are 0 in double, one of 1.6e-162 is not: the quotient would be anything.
TEST(Extremes, FlTrustGivesNoTrustToWhatHasNoNorm) {
  const Index d = 10000;
  MatrixXd updates = MatrixXd::Ones(6, d);
  updates.row(5).setConstant(1.4e-162);
  updates(5, 3) = 1.6e-162;
  const MatrixOutcome r = run_rows("fltrust", updates, MatrixXd::Ones(1, d));
  EXPECT_FALSE(r.verdict.clients[5].accepted);
  EXPECT_EQ(r.verdict.weights[5], 0);
  EXPECT_NEAR(r.out.norm(), 100, 1e-9);
}

// With two refused n = 3 and f = 1: computable, though n = 5 and f = 3 are not.
TEST(Extremes, TrimmedMeanLooksForHostileRowsBeforeItRefuses) {
  MatrixXd updates(5, 2);
  updates << 1, 1, 2, 2, 3, 9, 0, 0, 0, 0;
  updates.bottomRows(2).setConstant(std::nan(""));
  const MatrixOutcome r = run_rows("trmean(f=3)", updates, MatrixXd(0, 2));
  EXPECT_EQ(r.verdict.refused, 2U);
  EXPECT_EQ(r.out(0), 2);
  EXPECT_EQ(r.out(1), 2);
}

TEST(Extremes, RowsThatNeedNotBeReadAreNamedAllTheSame) {
  MatrixXd updates = noise(5, 30);
  updates(2, 7) = std::nan("");
  const MatrixXd server = noise(3, 30);
  for (const char* spec :
       {"average | server-mix(lambda=1)", "coomed | server-mix(lambda=1)", "server",
        "bucketing(s=2) | average", "bucketing(s=2) | coomed", "bucketing(s=4) | average"}) {
    const MatrixOutcome r = run_rows(spec, updates, server);
    EXPECT_EQ(r.verdict.refused, 1U) << spec;
    EXPECT_TRUE(r.verdict.clients[2].refused) << spec;
    EXPECT_TRUE(std::isfinite(r.out.norm())) << spec;
  }
  // The buckets are those of the four that remain.
  MatrixXd four(4, 30);
  four << updates.topRows(2), updates.bottomRows(2);
  EXPECT_EQ(run_rows("bucketing(s=2) | coomed", updates, server).out,
            run_rows("bucketing(s=2) | coomed", four, server).out);
}

// A copy of an honest row with NaN in a column that the choice of the origin does not see.
TEST(Extremes, ARefusedRowHasNoPartInTheOrigin) {
  MatrixXd updates = make_skewed({.honest = 6, .length = 9000, .common = 50}).updates;
  const MatrixOutcome clean = run_rows("krum(f=1)", updates, MatrixXd(0, 9000), DType::kFloat32);
  for (Index copied = 0; copied < 6; ++copied) {
    MatrixXd more(7, 9000);
    more << updates, updates.row(copied);
    more(6, 0) = std::nan("");
    const MatrixOutcome r = run_rows("krum(f=2)", more, MatrixXd(0, 9000), DType::kFloat32);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(measure(r.verdict.clients[i], "score"), measure(clean.verdict.clients[i], "score"))
          << "copy of " << copied << ", client " << i;
    }
  }
}

TEST(Extremes, ExhaustiveSearchRefusesWhatTakesHours) {
  const MatrixXd updates = noise(500, 3);
  const Result<MatrixOutcome> r =
      try_run("boba-es(f=2)", to_updates(updates, DType::kFloat32).view(),
              to_updates(MatrixXd::Identity(3, 3), DType::kFloat32).view());
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("use boba"), std::string::npos);
}

TEST(Extremes, ErrorsOfTheServerKeepTheirKind) {
  MatrixXd updates = noise(6, 10);
  updates(1, 1) = std::nan("");
  const Result<MatrixOutcome> equal =
      try_run("boba(f=1)", to_updates(updates, DType::kFloat64).view(),
              to_updates(MatrixXd::Ones(3, 10), DType::kFloat64).view());
  ASSERT_FALSE(equal);
  EXPECT_EQ(equal.error().code, ErrorCode::kInvalidArgument);
  updates.setConstant(std::nan(""));
  const Result<MatrixOutcome> none =
      try_run("krum(f=1)", to_updates(updates, DType::kFloat64).view(), UpdateView());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kRefused);
  EXPECT_EQ(none.error().message.find("refused before"), std::string::npos);
}

}  // namespace
}  // namespace boba::test
