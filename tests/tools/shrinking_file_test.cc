// Files that somebody writes to while boba reads them: an error, whichever bytes are gone.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "tests/support/tools_npy.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

constexpr std::size_t kRows = 256;
constexpr std::size_t kLength = std::size_t{1} << 20;  // 1 GiB in all

class ShrinkingFile : public ::testing::Test {
 protected:
  ShrinkingFile() {
    // Zeros that take no disk, and time to read.
    const std::string header =
        npy_bytes(npy_dictionary("<f4", fmt::format("({}, {})", kRows, kLength)), "");
    write_text(file_, header);
    std::filesystem::resize_file(file_, header.size() + kRows * kLength * sizeof(float));
  }

  // Runs the command on the file, and the change as soon as it is mapped.
  Finished run(const std::string& command, const std::string& change) {
    return run_program(
        {"sh", "-c",
         fmt::format(
             "{} {} & pid=$!; "
             "while kill -0 $pid && ! grep -q u.npy /proc/$pid/maps; do :; done 2>/dev/null; "
             "{}; wait $pid",
             boba_program().string(), command, change)},
        {.folder = folder_.path()});
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "u.npy";
};

constexpr const char* kAggregate =
    "aggregate --rule average --updates u.npy --out a.npy --threads 1";

TEST_F(ShrinkingFile, MissingPagesEndTheProgramWithASentence) {
  const Finished finished = run(kAggregate, "truncate -s 4096 u.npy");
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err,
            "boba: cannot read u.npy: it became shorter while it was being read, or its disk "
            "failed\n");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"u.npy"});
}

// What is gone of the last page reads as zeros, and no signal comes.
TEST_F(ShrinkingFile, AByteIsMissed) {
  const Finished finished = run(kAggregate, "truncate -s -1 u.npy");
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err,
            "boba aggregate: cannot read u.npy: it was changed while it was being read\n");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"u.npy"});
}

TEST_F(ShrinkingFile, AttacksReadFilesToo) {
  const Finished finished =
      run("attack --attack 'ipm(gamma=1)' --honest u.npy --byzantine 1 --out a.npy", "touch u.npy");
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err,
            "boba attack: cannot read u.npy: it was changed while it was being read\n");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"u.npy"});
}

// They would wait for somebody to write.
TEST(Pipes, AreNotReadFrom) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const std::string arguments : {
           "aggregate --rule average --updates pipe",
           "attack --attack zero --honest pipe --byzantine 1 --out a.npy",
       }) {
    const Finished finished = run_program(
        {"sh", "-c", fmt::format("timeout 20 {} {}", boba_program().string(), arguments)},
        {.folder = folder.path()});
    EXPECT_EQ(finished.status, 1) << arguments;
    EXPECT_NE(finished.err.find("pipe: it is not a regular file"), std::string::npos)
        << finished.err;
  }
}

}  // namespace
}  // namespace boba::test
