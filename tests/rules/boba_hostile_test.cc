// BOBA on inputs that someone made to break it, and on degenerate ones.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "boba/rules/subspace_report.h"
#include "tests/support/boba_runner.h"
#include "tests/support/label_skew.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInf = std::numeric_limits<double>::infinity();

MatrixOutcome run_matrix(const std::string& spec, const MatrixXd& updates, const MatrixXd& server,
                         DType dtype = DType::kFloat64) {
  return run(spec, to_updates(updates, dtype), to_updates(server, dtype));
}

std::string error_of(const std::string& spec, const MatrixXd& updates, const MatrixXd& server,
                     DType dtype = DType::kFloat64) {
  const Result<MatrixOutcome> result =
      try_run(spec, to_updates(updates, dtype).view(), to_updates(server, dtype).view());
  return result ? "" : result.error().message;
}

TEST(BobaProperties, PermutationOfClientsAndClasses) {
  const SkewedRound data = make_skewed({.byzantine = 4}, Forgery::kIpm);
  const MatrixOutcome before = run_matrix("boba(f=5)", data.updates, data.server);
  const MatrixXd reversed = data.updates.colwise().reverse();
  const MatrixXd classes = data.server.colwise().reverse();
  const MatrixOutcome after = run_matrix("boba(f=5)", reversed, classes);
  EXPECT_LE((before.out - after.out).norm(), 1e-10 * before.out.norm());
  const std::size_t n = before.verdict.clients.size();
  for (std::size_t i = 0; i < n; ++i) {
    const ClientVerdict& a = before.verdict.clients[i];
    const ClientVerdict& b = after.verdict.clients[n - 1 - i];
    EXPECT_EQ(a.accepted, b.accepted);
    EXPECT_EQ(in_fit(a), in_fit(b));
    EXPECT_NEAR(*a.weight, *b.weight, 1e-9);
    for (std::size_t z = 0; z < 4; ++z) EXPECT_NEAR(a.label_mix[z], b.label_mix[3 - z], 1e-8);
  }
}

TEST(BobaProperties, TranslationAndScale) {
  const SkewedRound data = make_skewed({.byzantine = 4}, Forgery::kLie);
  const MatrixOutcome plain = run_matrix("boba(f=5)", data.updates, data.server);
  const VectorXd shift = VectorXd::LinSpaced(data.updates.cols(), -3, 5);
  const MatrixOutcome moved = run_matrix("boba(f=5)", data.updates.rowwise() + shift.transpose(),
                                         data.server.rowwise() + shift.transpose());
  EXPECT_LE((moved.out - shift - plain.out).norm(), 1e-10 * moved.out.norm());
  const MatrixOutcome scaled = run_matrix("boba(f=5)", -7.5 * data.updates, -7.5 * data.server);
  EXPECT_LE((scaled.out + 7.5 * plain.out).norm(), 1e-10 * scaled.out.norm());
}

// Whatever f clients send, the result stays within a few spreads of the honest mean: the theorem's
// order, not its (loose) constants.
TEST(BobaProperties, AnythingFromAtMostFClientsIsBounded) {
  const SkewedRound data = make_skewed({.honest = 40, .byzantine = 4, .noise = 0.02});
  const VectorXd mean = data.updates.topRows(40).colwise().mean();
  const std::vector<double> sizes = {1e-30, 1e-3, 1,    10,   1e3,   1e9,
                                     1e18,  1e30, 3e38, kInf, -kInf, std::nan("")};
  for (double size : sizes) {
    MatrixXd updates = data.updates;
    for (Index b = 40; b < 44; ++b) {
      for (Index j = 0; j < updates.cols(); ++j) {
        updates(b, j) = size * (static_cast<double>((b * 31 + j * 17) % 7) - 3);
        if (std::isnan(size)) updates(b, j) = size;
      }
    }
    const MatrixOutcome r = run_matrix("boba(f=4)", updates, data.server, DType::kFloat32);
    EXPECT_LE((r.out - mean).norm(), 0.3) << "size " << size;
  }
}

TEST(BobaHostile, RefusedRowsLeaveNoTrace) {
  const SkewedRound data = make_skewed({.byzantine = 3}, Forgery::kIpm);
  const MatrixOutcome clean = run_matrix("boba(f=3)", data.updates, data.server, DType::kFloat32);
  for (double bad : {std::nan(""), kInf, -kInf, 3.3e38}) {
    MatrixXd updates(data.updates.rows() + 2, data.updates.cols());
    updates << data.updates.topRows(7), MatrixXd::Constant(1, data.updates.cols(), 0.1),
        data.updates.bottomRows(26), MatrixXd::Constant(1, data.updates.cols(), bad);
    updates(7, 113) = bad;
    if (bad == 3.3e38) updates.row(7).setConstant(bad);
    const MatrixOutcome r = run_matrix("boba(f=5)", updates, data.server, DType::kFloat32);
    EXPECT_EQ(r.verdict.refused, 2U);
    for (std::size_t i : {std::size_t{7}, static_cast<std::size_t>(updates.rows() - 1)}) {
      EXPECT_TRUE(r.verdict.clients[i].refused);
      EXPECT_FALSE(r.verdict.clients[i].accepted);
      EXPECT_EQ(r.verdict.clients[i].weight, 0.0);
      EXPECT_NE(r.verdict.clients[i].reason.find("refused"), std::string::npos);
    }
    EXPECT_LE((r.out - clean.out).norm(), 1e-6 * clean.out.norm()) << "bad " << bad;
    EXPECT_EQ(r.verdict.accepted(), clean.verdict.accepted());
  }
}

TEST(BobaHostile, EverythingRefusedIsAnError) {
  MatrixXd updates = MatrixXd::Constant(3, 4, std::nan(""));
  const std::string error = error_of("boba(f=1)", updates, MatrixXd::Identity(2, 4));
  EXPECT_NE(error.find("all 3 updates were refused"), std::string::npos) << error;
}

TEST(BobaHostile, WhatCannotBeComputedIsRefused) {
  const SkewedRound data = make_skewed({.honest = 6});
  EXPECT_NE(error_of("boba(f=6)", data.updates, data.server).find("got n=6, f=6"),
            std::string::npos);
  EXPECT_NE(error_of("boba(f=1)", data.updates, MatrixXd(0, data.updates.cols()))
                .find("needs server gradients, one per class; got none"),
            std::string::npos);
  EXPECT_NE(error_of("boba(f=1)", data.updates, MatrixXd::Zero(4, 10))
                .find("a server gradient has length 10, the updates have length 200"),
            std::string::npos);
  const MatrixXd equal = MatrixXd::Constant(4, data.updates.cols(), 0.3);
  EXPECT_NE(error_of("boba(f=1)", data.updates, equal).find("are all equal"), std::string::npos);
  MatrixXd nan = data.server;
  nan(2, 5) = std::nan("");
  EXPECT_NE(error_of("boba(f=1)", data.updates, nan).find("server gradient 2"), std::string::npos);
  const SkewedRound many = make_skewed({.honest = 60});
  EXPECT_NE(error_of("boba-es(f=9)", many.updates, many.server).find("use boba"),
            std::string::npos);
}

TEST(BobaHostile, OneClassIsTheTrimmedMean) {
  MatrixXd updates(4, 2);
  updates << 1, 1, 2, 1, 3, 1, 100, 100;
  const MatrixOutcome r = run_matrix("boba(f=1)", updates, MatrixXd::Constant(1, 2, 1.5));
  EXPECT_NEAR(r.out(0), 2, 1e-12);
  EXPECT_NEAR(r.out(1), 1, 1e-12);
  for (const ClientVerdict& client : r.verdict.clients) {
    EXPECT_EQ(client.label_mix, std::vector<double>{1.0});
  }
  EXPECT_TRUE(mentions(subspace_of(r.verdict)->statements, "one class"));
}

TEST(BobaHostile, AllEqualUpdates) {
  const SkewedRound data = make_skewed({});
  const MatrixXd equal = data.updates.row(0).replicate(10, 1);
  for (const char* spec : {"boba(f=2)", "boba-es(f=2)", "boba-no-stage2(f=2)"}) {
    const MatrixOutcome r = run_matrix(spec, equal, data.server, DType::kFloat32);
    EXPECT_LE((r.out - equal.row(0).transpose()).norm(), 1e-6 * r.out.norm()) << spec;
    EXPECT_EQ(r.verdict.accepted(), 10U) << spec;
    EXPECT_EQ(subspace_of(r.verdict)->rank, 0U) << spec;
    EXPECT_FALSE(subspace_of(r.verdict)->guarantee_possible) << spec;
  }
}

TEST(BobaHostile, AllZeroUpdates) {
  const SkewedRound data = make_skewed({});
  const MatrixOutcome r =
      run_matrix("boba(f=2)", MatrixXd::Zero(10, data.server.cols()), data.server);
  EXPECT_EQ(r.out.norm(), 0);
}

// Two of four server gradients are the same: shares of those two are split evenly, and the result
// is that of the plane which the clients span.
TEST(BobaHostile, RankDeficientServer) {
  const SkewedRound data = make_skewed({.noise = 0, .server_noise = 0});
  MatrixXd server = data.server;
  server.row(3) = server.row(2);
  const MatrixOutcome r = run_matrix("boba(f=2)", data.updates, server);
  for (const ClientVerdict& client : r.verdict.clients) {
    EXPECT_NEAR(client.label_mix[2], client.label_mix[3], 1e-9);
    double sum = 0;
    for (double share : client.label_mix) sum += share;
    EXPECT_NEAR(sum, 1, 1e-9);
  }
  EXPECT_TRUE(mentions(subspace_of(r.verdict)->statements, "differ in 2 of 3 directions"));
  EXPECT_TRUE(std::isfinite(r.out.norm()));
}

TEST(BobaHostile, SameBitsForAnyNumberOfThreads) {
  const SkewedRound data = make_skewed(
      {.honest = 50, .byzantine = 8, .classes = 10, .length = 20000, .seed = 9}, Forgery::kIpm);
  const UpdateMatrix updates = to_updates(data.updates, DType::kFloat32);
  const UpdateMatrix server = to_updates(data.server, DType::kFloat32);
  const MatrixOutcome one = run("boba(f=9)", updates, server, 1);
  for (int threads : {2, 3}) {
    const MatrixOutcome more = run("boba(f=9)", updates, server, threads);
    EXPECT_EQ(one.out, more.out);
    EXPECT_EQ(one.verdict.weights, more.verdict.weights);
    EXPECT_EQ(one.verdict.server_weights, more.verdict.server_weights);
  }
}

}  // namespace
}  // namespace boba::test
