// Every attack on rows in a GPU's memory, against the processor.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "boba/attacks/registry.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/cuda/cuda.h"
#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

TEST(DeviceAttacks, AgreeWithTheProcessor) {
  const auto made = make_cuda_kernels();
  if (!made) GTEST_SKIP() << "no GPU";
  const Kernels& cuda = **made;
  constexpr std::size_t kHonest = 7;
  constexpr std::size_t kByzantine = 3;
  constexpr std::size_t kLength = 20'011;
  const AttackRows<float> honest(random_rows<float>(kHonest, kLength, 11));
  UpdateMatrix there = cuda.make_rows(DType::kFloat32, kHonest, kLength);
  for (std::size_t i = 0; i < kHonest; ++i) cuda.put(honest.view(), i, there.row(i));
  const AttackRows<float> server(random_rows<float>(4, kLength, 21));
  UpdateMatrix server_there = cuda.make_rows(DType::kFloat32, 4, kLength);
  for (std::size_t z = 0; z < 4; ++z) cuda.put(server.view(), z, server_there.row(z));
  std::vector<std::string> specs = attack_specs();
  specs.insert(specs.end(),
               {"gauss(mean=3)", "lie(z=1.5)", "signflip(scale=3)", "signflip(scale=3,of=mean)",
                "simplex(classes=4)", "simplex(classes=3,aim=against)",
                "inside(corner=2,speed=0.3)", "ipm | noise", "ipm + mimic | sleeper"});
  std::vector<double> mixes;
  for (std::size_t k = 0; k < 4 * kHonest; ++k) mixes.push_back(k % 4 == k / 4 % 4 ? 0.7 : 0.1);
  for (const std::string& spec : specs) {
    const auto attack = make_attack(spec);
    ASSERT_TRUE(attack.ok()) << spec;
    AttackRound round{.honest = honest.view(),
                      .server = server.view(),
                      .learning_rate = 0.1,
                      .seed = 3,
                      .number = 2,
                      .label_mixes = mixes};
    const auto expected = forge<float>(*attack->attack, *make_cpu_kernels({.threads = 1}), round,
                                       kByzantine, kLength);
    ASSERT_TRUE(expected.ok) << spec;
    UpdateMatrix out = cuda.make_rows(DType::kFloat32, kByzantine, kLength);
    std::vector<MutableRow> rows;
    for (std::size_t j = 0; j < kByzantine; ++j) rows.push_back(out.row(j));
    round.honest = there.view();
    round.server = server_there.view();
    const auto report = attack->attack->forge(cuda, round, rows);
    ASSERT_TRUE(report.ok()) << spec << ": " << report.error().message;
    for (std::size_t j = 0; j < kByzantine; ++j) {
      std::vector<float> row(kLength);
      cuda.get(out.view(), j, MutableRow(std::span<float>(row)));
      double worst = 0;
      for (std::size_t k = 0; k < kLength; ++k) {
        const float want = expected.rows[j][k];
        if (std::isfinite(want)) {
          worst = std::max(worst, static_cast<double>(std::abs(row[k] - want)) /
                                      (1 + static_cast<double>(std::abs(want))));
        } else {
          EXPECT_EQ(std::isnan(row[k]), std::isnan(want)) << spec;
          EXPECT_FALSE(std::isfinite(row[k])) << spec;
        }
      }
      EXPECT_LT(worst, 1e-5) << spec << ", row " << j;
    }
  }
}

}  // namespace
}  // namespace boba::testing
