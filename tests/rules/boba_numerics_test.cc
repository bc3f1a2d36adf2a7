// How exact BOBA is on ill-conditioned rounds: within the rounding of its products times the
// condition number that docs/numerics.md states, against d-space in double.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "boba/rules/subspace_report.h"
#include "tests/support/boba_oracle.h"
#include "tests/support/boba_runner.h"
#include "tests/support/label_skew.h"

namespace boba::test {
namespace {

struct Case {
  std::string name;
  SkewOptions data;
  Forgery forgery = Forgery::kGauss;
};

std::vector<Case> cases() {
  const SkewOptions base{.honest = 40,
                         .byzantine = 5,
                         .classes = 4,
                         .length = 3000,
                         .noise = 0.01,
                         .server_noise = 0.01};
  std::vector<Case> list = {{"plain", base, Forgery::kIpm}};
  const auto add = [&](const char* name, Forgery forgery, auto change) {
    list.push_back({name, base, forgery});
    change(list.back().data);
  };
  add("common_100", Forgery::kGauss, [](SkewOptions& o) { o.common = 100; });
  add("common_1e4", Forgery::kGauss, [](SkewOptions& o) { o.common = 1e4; });
  add("classes_1e_3_apart", Forgery::kGauss, [](SkewOptions& o) {
    o.close_pair = 1e-3;
    o.noise = o.server_noise = 1e-4;
  });
  add("common_and_close", Forgery::kGauss, [](SkewOptions& o) {
    o.common = 100;
    o.close_pair = 1e-3;
    o.noise = o.server_noise = 1e-4;
  });
  add("size_1e_21", Forgery::kIpm, [](SkewOptions& o) { o.scale = 1e-21; });
  add("size_1e18", Forgery::kIpm, [](SkewOptions& o) { o.scale = 1e18; });
  return list;
}

class BobaNumerics : public testing::TestWithParam<Case> {};

TEST_P(BobaNumerics, WithinRoundingTimesCondition) {
  const SkewedRound data = make_skewed(GetParam().data, GetParam().forgery);
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    SCOPED_TRACE(std::string(name(dtype)));
    const UpdateMatrix updates = to_updates(data.updates, dtype);
    const UpdateMatrix server = to_updates(data.server, dtype);
    const MatrixOutcome run_out = run("boba(f=6)", updates, server);
    const BobaOracle oracle =
        boba_oracle(to_matrix(updates.view()), to_matrix(server.view()), {.f = 6});
    const SubspaceReport report = *subspace_of(run_out.verdict);
    ASSERT_EQ(report.rank, 3U);

    // The two condition numbers of docs/numerics.md; the verdict carries the larger.
    const double first = oracle.singular_values.front();
    const double weakest = first / oracle.singular_values.back();
    const double spread = first / std::sqrt(39.0);
    const double condition = std::max(
        weakest * weakest, spread * spread / (report.residual_level * report.residual_level));
    EXPECT_NEAR(report.condition / condition, 1, 0.2);
    const bool sharp = dtype == DType::kFloat64 || condition * 0x1p-24 > 1e-3;
    const double error = 8 * condition * (sharp ? 0x1p-53 : 0x1p-24);
    ASSERT_LT(error, 0.01) << "a bound that allows anything";

    const double out_tolerance = std::max(error, dtype == DType::kFloat32 ? 1e-6 : 1e-13);
    EXPECT_LE((run_out.out - oracle.out).norm(), out_tolerance * oracle.out.norm());
    ASSERT_GT(oracle.residual_margin, 0) << "a tie";
    for (std::size_t i = 0; i < run_out.verdict.clients.size(); ++i) {
      const ClientVerdict& client = run_out.verdict.clients[i];
      if (oracle.share_margin > error) {
        EXPECT_EQ(client.accepted, oracle.accepted[i]) << i;
      }
      if (oracle.residual_margin > error) {
        EXPECT_EQ(in_fit(client), oracle.in_fit[i]) << i;
      }
      for (std::size_t z = 0; z < client.label_mix.size(); ++z) {
        const double share =
            oracle.shares(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(z));
        EXPECT_NEAR(client.label_mix[z], share, std::max(error, 1e-12) * (1 + std::abs(share)));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BobaNumerics, testing::ValuesIn(cases()),
                         [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace boba::test
