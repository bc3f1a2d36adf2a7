// boba under mpirun: the same bytes for any number of ranks, and an end with a reason when
// something goes wrong.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boba/dist/mpi.h"
#include "tests/support/tools_mpirun.h"
#include "tests/support/tools_npy.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

using nlohmann::json;

constexpr std::size_t kLength = 9001;  // five chunks

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// What is said, without what differs from run to run and with the number of ranks.
json verdict_of(const std::string& path) {
  json report = json::parse(read_text(path));
  report.erase("seconds");
  report.erase("kernels");
  return report;
}

class Mpirun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!mpi_built()) GTEST_SKIP() << "this build has no MPI";
    write(sample_round(20, 3, 4, kLength));
  }

  void write(const Sample& sample) {
    write_text(folder_.path() / "updates.npy", npy_of(sample.updates));
    write_text(folder_.path() / "server.npy", npy_of(sample.server));
  }

  Finished launch(const std::vector<std::string>& rest) {
    const Finished finished = run_mpirun(folder_.path(), rest);
    EXPECT_EQ(processes_left_in(folder_.path()), 0) << "nothing goes on after mpirun has ended";
    return finished;
  }

  Finished boba(int ranks, const std::vector<std::string>& arguments) {
    return run_boba_on_ranks(folder_.path(), ranks, arguments);
  }

  static std::vector<std::string> aggregate(const std::string& rule, const std::string& name,
                                            const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "aggregate", "--rule", rule,    "--updates",   "updates.npy", "--server",    "server.npy",
        "--seed",    "9",      "--out", name + ".npy", "--report",    name + ".json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  void expect_same_as_alone(const std::string& rule, const std::vector<int>& ranks,
                            const std::vector<std::string>& more = {}) {
    const Finished alone = run_boba(aggregate(rule, "alone", more), {.folder = folder_.path()});
    ASSERT_EQ(alone.status, 0) << rule << ": " << alone.err;
    for (const int k : ranks) {
      SCOPED_TRACE(fmt::format("{}, {} ranks", rule, k));
      const Finished finished = boba(k, aggregate(rule, "ranks", more));
      ASSERT_EQ(finished.status, 0) << finished.err;
      EXPECT_TRUE(read_text(folder_ / "ranks.npy") == read_text(folder_ / "alone.npy"));
      EXPECT_EQ(verdict_of(folder_ / "ranks.json"), verdict_of(folder_ / "alone.json"));
      EXPECT_EQ(count_of(finished.out, "wrote ranks.npy"), 1U) << finished.out;
      std::filesystem::remove(folder_ / "ranks.npy");
      std::filesystem::remove(folder_ / "ranks.json");
    }
  }

  // Only the files that were there before.
  void expect_no_output() {
    for (const std::string& name : folder_.names()) {
      EXPECT_FALSE(name.starts_with("ranks")) << name << " is left";
    }
  }

  TemporaryFolder folder_;
};

TEST_F(Mpirun, AnyNumberOfRanksGivesTheBytesOfOneProcess) {
  for (const char* rule : {"average", "coomed", "trmean(f=3)", "krum(f=3)", "mkrum(f=3)", "geomed",
                           "fltrust", "boba(f=3)", "bucketing(s=2) | krum(f=2)"}) {
    expect_same_as_alone(rule, {2, 3});
  }
  expect_same_as_alone("boba(f=3)", {1, 4});
}

TEST_F(Mpirun, Float64AndSketchesToo) {
  const Sample sample = sample_round(20, 3, 4, kLength);
  const auto widen = [](const std::vector<std::vector<float>>& rows) {
    std::vector<std::vector<double>> wide;
    for (const auto& row : rows) wide.emplace_back(row.begin(), row.end());
    return npy_of(wide);
  };
  expect_same_as_alone("boba(f=3)", {2, 4}, {"--gram", "sketch(length=512,seed=5)"});
  write_text(folder_.path() / "updates.npy", widen(sample.updates));
  write_text(folder_.path() / "server.npy", widen(sample.server));
  expect_same_as_alone("boba(f=3)", {2, 4});
  expect_same_as_alone("fltrust", {3}, {"--server-counts", "20,20,10,5"});
}

TEST_F(Mpirun, MoreRanksThanColumns) {
  write(sample_round(8, 1, 2, 3));
  for (const char* rule : {"average", "krum(f=1)", "boba(f=1)"}) expect_same_as_alone(rule, {2, 4});
}

TEST_F(Mpirun, ManyClients) {
  write(sample_round(530, 10, 4, 4500));
  expect_same_as_alone("mkrum(f=10)", {2, 3});
}

TEST_F(Mpirun, HostileNumbersInTheColumnsOfOneRank) {
  Sample sample = sample_round(20, 3, 4, kLength);
  sample.updates[2][0] = std::numeric_limits<float>::quiet_NaN();
  sample.updates[5][kLength - 1] = std::numeric_limits<float>::infinity();
  for (float& x : sample.updates[7]) x = 3e38F;
  write(sample);
  for (const char* rule : {"average", "coomed", "boba(f=3)"}) expect_same_as_alone(rule, {2, 4});
  const json clients = verdict_of(folder_ / "alone.json")["clients"];
  for (const int client : {2, 5, 7}) EXPECT_TRUE(clients[client]["refused"].get<bool>());
}

TEST_F(Mpirun, WithoutFilesRankZeroSpeaks) {
  const Finished finished =
      boba(3, {"aggregate", "--rule", "krum(f=3)", "--updates", "updates.npy"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(count_of(finished.out, "krum(f=3) accepted 1 of 23"), 1U) << finished.out;
  EXPECT_TRUE(contains(finished.out, fmt::format("updates 23 x {} float32", kLength)));
  EXPECT_TRUE(contains(finished.out, "3 ranks of cpu"));
}

// As an mpirun of MPICH would start a boba that was built with Open MPI.
TEST_F(Mpirun, AnotherMpisLauncherIsNoticed) {
  const Finished finished =
      run_program({"env", "PMI_RANK=0", "PMI_SIZE=2", "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=self",
                   "timeout", "60", boba_program().string(), "aggregate", "--rule", "average",
                   "--updates", "updates.npy", "--out", "ranks.npy"},
                  {.folder = folder_.path()});
  EXPECT_EQ(finished.status, 1) << finished.err;
  EXPECT_TRUE(contains(finished.err, "MPI sees 1")) << finished.err;
  expect_no_output();
}

TEST_F(Mpirun, OtherCommandsAreRankZerosAlone) {
  const Finished finished = boba(3, {"rules"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.out, run_boba({"rules"}).out);
}

TEST_F(Mpirun, MistakesAreSaidOnce) {
  const Finished rule = boba(3, aggregate("krumm", "ranks"));
  EXPECT_NE(rule.status, 0);
  EXPECT_EQ(count_of(rule.err, "boba aggregate: no rule 'krumm'"), 1U) << rule.err;
  const Finished option = boba(2, {"aggregate", "--rul", "average"});
  EXPECT_NE(option.status, 0);
  EXPECT_EQ(count_of(option.err, "no option '--rul'"), 1U) << option.err;
  const Finished few = boba(2, aggregate("krum(f=30)", "ranks"));
  EXPECT_NE(few.status, 0);
  EXPECT_EQ(count_of(few.err, "krum needs"), 1U) << few.err;
  expect_no_output();
}

TEST_F(Mpirun, AShortFileEndsTheJob) {
  const std::string whole = read_text(folder_ / "updates.npy");
  for (const std::size_t keep : {whole.size() - 1, whole.size() / 2, std::size_t{50}}) {
    write_text(folder_.path() / "updates.npy", whole.substr(0, keep));
    const auto begin = std::chrono::steady_clock::now();
    const Finished finished = boba(3, aggregate("boba(f=3)", "ranks"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_NE(finished.status, 0);
    EXPECT_EQ(count_of(finished.err, "boba aggregate: updates.npy: "), 1U) << finished.err;
    expect_no_output();
  }
}

TEST_F(Mpirun, WhatOneRankCannotReadEndsAllAndNamesIt) {
  const std::string program = boba_program().string();
  std::filesystem::copy_file(folder_ / "updates.npy", folder_ / "other.npy");
  const auto two = [&](const std::string& file) {
    return launch({"-n",        "2",           program,     "aggregate", "--rule",  "average",
                   "--updates", "updates.npy", "--out",     "ranks.npy", ":",       "-n",
                   "1",         program,       "aggregate", "--rule",    "average", "--updates",
                   file,        "--out",       "ranks.npy"});
  };
  EXPECT_EQ(two("other.npy").status, 0);
  std::filesystem::remove(folder_ / "ranks.npy");
  // The same shape, and one row of another round.
  Sample other = sample_round(20, 3, 4, kLength);
  for (float& x : other.updates[11]) x += 0.5F;
  write_text(folder_.path() / "other.npy", npy_of(other.updates));
  const Finished row = two("other.npy");
  EXPECT_NE(row.status, 0);
  EXPECT_EQ(count_of(row.err, "the ranks see different numbers in files of one shape"), 1U)
      << row.err;
  expect_no_output();
  const Finished missing = two("missing.npy");
  EXPECT_NE(missing.status, 0);
  EXPECT_EQ(count_of(missing.err, "rank 2 on "), 1U) << missing.err;
  EXPECT_TRUE(contains(missing.err, "cannot read missing.npy")) << missing.err;
  write_text(folder_.path() / "other.npy", npy_of(sample_round(20, 3, 4, 800).updates));
  const Finished different = two("other.npy");
  EXPECT_NE(different.status, 0);
  EXPECT_TRUE(contains(different.err, "the ranks see different files")) << different.err;
  expect_no_output();
}

TEST_F(Mpirun, RanksWithOtherOptionsAreNoticed) {
  const std::string program = boba_program().string();
  const std::vector<std::string> first = {"--rule", "krum(f=3)", "--seed",
                                          "1",      "--out",     "ranks.npy"};
  for (const std::vector<std::string>& second : std::vector<std::vector<std::string>>{
           {"--rule", "krum(f=4)", "--seed", "1", "--out", "ranks.npy"},
           {"--rule", "krum(f=3)", "--seed", "2", "--out", "ranks.npy"},
           {"--rule", "krum(f=3)", "--seed", "1"},
           {"--rule", "krum(f=3)", "--seed", "1", "--out", "ranks.npy", "--report", "ranks.json"},
           {"--rule", "krum(f=3)", "--seed", "1", "--out", "ranks.npy", "--gram",
            "sketch(length=512)"}}) {
    std::vector<std::string> rest = {"-n", "1", program, "aggregate", "--updates", "updates.npy"};
    rest.insert(rest.end(), first.begin(), first.end());
    rest.insert(rest.end(), {":", "-n", "1", program, "aggregate", "--updates", "updates.npy"});
    rest.insert(rest.end(), second.begin(), second.end());
    const Finished finished = launch(rest);
    EXPECT_NE(finished.status, 0);
    EXPECT_EQ(count_of(finished.err, "started with different options"), 1U) << finished.err;
    expect_no_output();
  }
}

TEST_F(Mpirun, OutputThatCannotBeWrittenEndsTheJob) {
  const Finished folder = boba(2, aggregate("average", "nowhere/ranks"));
  EXPECT_NE(folder.status, 0);
  EXPECT_EQ(count_of(folder.err, "cannot write nowhere/ranks.npy"), 1U) << folder.err;
  const Finished device =
      boba(2, {"aggregate", "--rule", "average", "--updates", "updates.npy", "--out", "/dev/full"});
  EXPECT_NE(device.status, 0);
  EXPECT_EQ(count_of(device.err,
                     "cannot write /dev/full: several ranks can write only to a regular file"),
            1U)
      << device.err;
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const char* out : {"/dev/stdout", "pipe"}) {
    // Said before anything is read.
    const Finished direct =
        boba(2, {"aggregate", "--rule", "average", "--updates", "missing.npy", "--out", out});
    EXPECT_NE(direct.status, 0);
    EXPECT_EQ(count_of(direct.err, "cannot write " + std::string(out) +
                                       ": several ranks can write only to a regular file"),
              1U)
        << direct.err;
  }
  std::filesystem::remove(folder_ / "pipe");
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"server.npy", "updates.npy"}));
}

TEST_F(Mpirun, RanksWithOtherServerRowsAreNoticed) {
  Sample other = sample_round(20, 3, 4, kLength);
  std::swap(other.server[0], other.server[3]);
  write_text(folder_.path() / "other.npy", npy_of(other.server));
  const std::string program = boba_program().string();
  std::vector<std::string> rest;
  for (const char* file : {"server.npy", "other.npy"}) {
    rest.insert(rest.end(), {"-n", "1", program, "aggregate", "--rule", "boba(f=3)", "--updates",
                             "updates.npy", "--server", file, "--out", "ranks.npy", ":"});
  }
  rest.pop_back();
  const Finished finished = launch(rest);
  EXPECT_NE(finished.status, 0);
  EXPECT_EQ(count_of(finished.err, "files of one shape; rank 0 has server.npy"), 1U)
      << finished.err;
  expect_no_output();
}

// A round that takes several seconds: zeros, which take no disk.
void write_long_round(const std::filesystem::path& file) {
  constexpr std::size_t kRows = 480;
  constexpr std::size_t kColumns = 1 << 20;
  const std::string header =
      npy_bytes(npy_dictionary("<f4", fmt::format("({}, {})", kRows, kColumns)), "");
  write_text(file, header);
  std::filesystem::resize_file(file, header.size() + kRows * kColumns * sizeof(float));
}

TEST_F(Mpirun, ARankThatDiesEndsTheJob) {
  write_long_round(folder_.path() / "long.npy");
  for (const char* rank : {"0", "2"}) {
    for (const char* delay : {"0", "0.9"}) {
      SCOPED_TRACE(fmt::format("rank {} after {} s", rank, delay));
      // The shell becomes boba; what it left behind kills it without a word, but not before it has
      // begun: mpirun itself may hang where a process dies while the two make contact.
      const std::string line = fmt::format(
          "if [ \"$OMPI_COMM_WORLD_RANK\" = {} ]; then pid=$$; "
          "(while kill -0 $pid && ! grep -q long.npy /proc/$pid/maps; do sleep 0.01; done; "
          "sleep {}; kill -9 $pid) & fi; "
          "exec {} aggregate --rule 'krum(f=100)' --updates long.npy --out ranks.npy --threads 1",
          rank, delay, boba_program().string());
      const auto begin = std::chrono::steady_clock::now();
      const Finished finished = launch({"-n", "3", "sh", "-c", line});
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
      EXPECT_NE(finished.status, 0);
      EXPECT_NE(finished.status, 124) << "ended by the time limit";
      EXPECT_TRUE(contains(finished.err, "signal 9")) << finished.err;
      expect_no_output();
    }
  }
}

// The report goes to a pipe that nobody reads: rank 0 waits there, with the output still under
// another name.
TEST_F(Mpirun, ADeathBetweenWritingAndNamingLeavesNothing) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const char* rank : {"0", "1"}) {
    SCOPED_TRACE(rank);
    const std::string line = fmt::format(
        "if [ \"$OMPI_COMM_WORLD_RANK\" = {} ]; then pid=$$; "
        "(while kill -0 $pid && ! ls ranks.npy.*.tmp; do sleep 0.05; done >/dev/null 2>&1; "
        "sleep 0.3; echo seen >seen; kill -9 $pid) & fi; "
        "exec {} aggregate --rule average --updates updates.npy --out ranks.npy --report pipe",
        rank, boba_program().string());
    const auto begin = std::chrono::steady_clock::now();
    const Finished finished = launch({"-n", "2", "sh", "-c", line});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_TRUE(contains(finished.err, "signal 9")) << finished.err;
    EXPECT_EQ(folder_.names(),
              (std::vector<std::string>{"pipe", "seen", "server.npy", "updates.npy"}));
    std::filesystem::remove(folder_ / "seen");
  }
}

}  // namespace
}  // namespace boba::test
