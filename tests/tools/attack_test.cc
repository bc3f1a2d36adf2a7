// boba attack against the attacks themselves.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boba/attacks/registry.h"
#include "boba/kernels/cpu/cpu.h"
#include "tests/support/tools_npy.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

constexpr std::size_t kLength = 50;

class AttackCommand : public ::testing::Test {
 protected:
  AttackCommand() : honest_(sample_round(9, 0, 3, kLength).updates) {
    write_text(folder_.path() / "honest.npy", npy_of(honest_));
  }
  Finished run(const std::string& attack, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"attack", "--attack", attack, "--honest", "honest.npy"};
    arguments.insert(arguments.end(), {"--byzantine", "3", "--out", "x.npy"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_boba(arguments, {.folder = folder_.path()});
  }
  std::string written() { return read_text(folder_.path() / "x.npy"); }

  TemporaryFolder folder_;
  std::vector<std::vector<float>> honest_;
};

TEST_F(AttackCommand, WritesWhatTheAttackForges) {
  std::vector<const float*> table;
  for (const auto& row : honest_) table.push_back(row.data());
  AttackRound round;
  round.honest = UpdateView(std::span<const float* const>(table), kLength);
  round.seed = 5;
  round.learning_rate = 0.1;
  for (const AttackEntry& entry : attacks()) {
    const std::string name(entry.info.name);
    const Finished finished = run(name, {"--seed", "5", "--learning-rate", "0.1"});
    ASSERT_EQ(finished.status, 0) << name << finished.err;
    EXPECT_NE(finished.out.find("wrote 3 x 50 float32 to x.npy"), std::string::npos);
    UpdateMatrix forged(DType::kFloat32, 3, kLength);
    const std::vector<MutableRow> rows{forged.row(0), forged.row(1), forged.row(2)};
    const auto attack = make_attack(name);
    ASSERT_TRUE(attack);
    const auto kernels = make_cpu_kernels();
    ASSERT_TRUE(attack->attack->forge(*kernels, round, rows)) << name;
    std::vector<std::vector<float>> expected;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto row = forged.row_as<float>(i);
      expected.emplace_back(row.begin(), row.end());
    }
    // Bytes, since one of the attacks sends NaN.
    EXPECT_EQ(written(), npy_of(expected)) << name;
  }
}

TEST_F(AttackCommand, TheSeedDecides) {
  ASSERT_EQ(run("gauss", {"--seed", "1"}).status, 0);
  const std::string first = written();
  ASSERT_EQ(run("gauss", {"--seed", "2"}).status, 0);
  EXPECT_NE(written(), first);
  ASSERT_EQ(run("gauss", {"--seed", "1"}).status, 0);
  EXPECT_EQ(written(), first);
}

TEST_F(AttackCommand, FailureLeavesNoFile) {
  write_text(folder_.path() / "honest.npy", "damaged");
  const Finished finished = run("ipm");
  EXPECT_EQ(finished.status, 1);
  EXPECT_TRUE(finished.err.starts_with("boba attack: honest.npy: ")) << finished.err;
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"honest.npy"}));
  write_text(folder_.path() / "honest.npy", npy_bytes(npy_dictionary("<f4", "(0, 3)"), ""));
  EXPECT_EQ(run("ipm").status, 1);
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"honest.npy"}));
}

}  // namespace
}  // namespace boba::test
