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
    server_.assign(honest_.begin(), honest_.begin() + 3);
    write_text(folder_.path() / "server.npy", npy_of(server_));
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
  std::vector<std::vector<float>> server_;
};

TEST_F(AttackCommand, WritesWhatTheAttackForges) {
  std::vector<const float*> table;
  for (const auto& row : honest_) table.push_back(row.data());
  AttackRound round;
  round.honest = UpdateView(std::span<const float* const>(table), kLength);
  std::vector<const float*> known;
  for (const auto& row : server_) known.push_back(row.data());
  round.server = UpdateView(std::span<const float* const>(known), kLength);
  round.seed = 5;
  round.learning_rate = 0.1;
  for (const AttackEntry& entry : attacks()) {
    const std::string name(entry.info.name);
    const Finished finished =
        run(name, {"--seed", "5", "--learning-rate", "0.1", "--server", "server.npy"});
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

TEST_F(AttackCommand, TheServersRowsGoWithTheHonest) {
  const Finished none = run("simplex");
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.err.find("simplex needs the server's class gradients"), std::string::npos);
  EXPECT_EQ(run("simplex(classes=3)").status, 0);
  write_text(folder_.path() / "short.npy", npy_of(std::vector<std::vector<float>>{{1, 2}, {3, 4}}));
  const Finished other = run("simplex", {"--server", "short.npy"});
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(other.err.find("short.npy is 2 x 2 float32, which does not go with 9 x 50 float32"),
            std::string::npos)
      << other.err;
  EXPECT_EQ(run("simplex", {"--server", "absent.npy"}).status, 1);
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
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"honest.npy", "server.npy"}));
  write_text(folder_.path() / "honest.npy", npy_bytes(npy_dictionary("<f4", "(0, 3)"), ""));
  EXPECT_EQ(run("ipm").status, 1);
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"honest.npy", "server.npy"}));
}

}  // namespace
}  // namespace boba::test
