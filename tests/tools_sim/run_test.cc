// boba run, from the outside: grids, Ctrl-C, kill -9, two processes.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

constexpr const char* kExperiment = R"toml(# A small grid
rule = ["average", "boba(f=3)"]
attack = "ipm"
seed = [1, 2]
[data]
set = "synthetic(train=800,test=200)"
partition = "shards(per_client=2)"
[model]
kind = "mlp(width=16,depth=1)"
[training]
rounds = 60
[federation]
honest = 20
byzantine = 3
[server]
per_class = 5
[run]
evaluate_every = 7
)toml";

class RunTest : public ::testing::Test {
 protected:
  RunTest() { write_text(folder_ / "small.toml", kExperiment); }

  Finished boba(std::vector<std::string> arguments) {
    return run_boba(std::move(arguments), {.folder = folder_.path()});
  }

  // Starts a run and lets it go.
  pid_t start(const std::vector<std::string>& arguments) {
    const std::string program = boba_program().string();
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<char*> words = {const_cast<char*>(program.c_str())};
      for (const std::string& argument : arguments) {
        words.push_back(const_cast<char*>(argument.c_str()));
      }
      words.push_back(nullptr);
      if (::chdir(folder_.path().c_str()) != 0) ::_exit(127);
      if (std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(127);
      if (std::freopen("run.err", "w", stderr) == nullptr) ::_exit(127);
      ::execv(program.c_str(), words.data());
      ::_exit(127);
    }
    return child;
  }

  // Waits until the database shows progress of a run that is not finished.
  bool wait_for_progress(const std::string& db) {
    for (int k = 0; k < 600; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (!std::filesystem::exists(folder_.path() / db)) continue;
      const Finished results = boba({"results", "--db", db, "--csv"});
      if (results.out.find(",running,") == std::string::npos) continue;
      if (boba({"show", "1", "--db", db}).status == 0) return true;
    }
    return false;
  }

  std::string model(const std::string& db, int run) {
    return read_text(folder_.path() / (db + ".models") /
                     ("run-" + std::to_string(run) + ".safetensors"));
  }

  TemporaryFolder folder_;
};

TEST_F(RunTest, RunsAGridAndTellsTheAccuracies) {
  const Finished done = boba({"run", "small.toml", "--db", "a.db"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.out.find("rule"), std::string::npos);
  EXPECT_NE(done.out.find("boba(f=3)"), std::string::npos);
  EXPECT_NE(done.err.find("Examples of each class, dealt by shards"), std::string::npos)
      << done.err;
  EXPECT_NE(done.err.find("after 60 rounds"), std::string::npos) << done.err;
  const Finished results = boba({"results", "--db", "a.db", "--csv"});
  ASSERT_EQ(results.status, 0) << results.err;
  EXPECT_EQ(std::count(results.out.begin(), results.out.end(), '\n'), 5);
  // Nothing is run twice.
  const Finished again = boba({"run", "small.toml", "--db", "a.db"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.err.find("after 60 rounds"), std::string::npos) << again.err;
  EXPECT_EQ(boba({"results", "--db", "a.db", "--csv"}).out, results.out);
}

TEST_F(RunTest, DryRunShowsTheGridAndRunsNothing) {
  const Finished dry =
      boba({"run", "small.toml", "--db", "a.db", "--dry-run", "--set", "seed=[1,2,3]"});
  ASSERT_EQ(dry.status, 0) << dry.err;
  EXPECT_NE(dry.out.find("6 runs"), std::string::npos) << dry.out;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a.db"));
}

TEST_F(RunTest, ErrorsComeBeforeAnythingRuns) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"training.round=5", "rounds"},       {"rule=bobba(f=3)", "boba"},
      {"rule=boba(f=-3)", "f=-3"},          {"training.rounds=many", "rounds"},
      {"data.partition=pairs", "multiple"}, {"nonsense", "="}};
  for (const auto& entry : cases) {
    const Finished wrong = boba({"run", "small.toml", "--db", "a.db", "--set", entry.first});
    EXPECT_EQ(wrong.status, 2) << entry.first;
    EXPECT_NE(wrong.err.find(entry.second), std::string::npos) << entry.first << ": " << wrong.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a.db")) << entry.first;
  }
  write_text(folder_ / "wrong.toml", "rule = \"average\"\n\n[training]\nround = 5\n");
  const Finished wrong = boba({"run", "wrong.toml"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("wrong.toml:4"), std::string::npos) << wrong.err;
  EXPECT_NE(boba({"run", "no-such"}).err.find("quickstart"), std::string::npos);
}

TEST_F(RunTest, KilledInTheMiddleItResumesToTheSameBytes) {
  ASSERT_EQ(boba({"run", "small.toml", "--db", "whole.db"}).status, 0);
  const std::vector<std::string> command = {"run",   "small.toml",         "--db",      "killed.db",
                                            "--set", "training.rounds=60", "--threads", "1"};
  int kills = 0;
  for (; kills < 3; ++kills) {
    std::vector<std::string> arguments = command;
    if (kills > 0) arguments.emplace_back("--resume");
    const pid_t child = start(arguments);
    ASSERT_GT(child, 0);
    const bool running = wait_for_progress("killed.db");
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!running || !WIFSIGNALED(status)) break;
  }
  EXPECT_GE(kills, 1) << read_text(folder_ / "run.err");
  // A run that a dead process left is not taken for a running one.
  const Finished refused = boba({"run", "small.toml", "--db", "killed.db"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("--resume"), std::string::npos) << refused.err;
  const Finished resumed = boba({"run", "small.toml", "--db", "killed.db", "--resume"});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  for (int run = 1; run <= 4; ++run) EXPECT_EQ(model("whole", run), model("killed", run)) << run;
}

TEST_F(RunTest, CtrlCStopsAfterTheRound) {
  const pid_t child = start({"run", "small.toml", "--db", "a.db", "--set", "training.rounds=5000"});
  ASSERT_GT(child, 0);
  ASSERT_TRUE(wait_for_progress("a.db")) << read_text(folder_ / "run.err");
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const std::string said = read_text(folder_ / "run.err");
  EXPECT_NE(said.find("--resume"), std::string::npos) << said;
  EXPECT_NE(boba({"results", "--db", "a.db", "--csv"}).out.find(",stopped,"), std::string::npos);
}

TEST_F(RunTest, TwoProcessesShareOneDatabase) {
  ASSERT_EQ(boba({"run", "small.toml", "--db", "whole.db"}).status, 0);
  const pid_t first = start({"run", "small.toml", "--db", "shared.db"});
  const pid_t second = start({"run", "small.toml", "--db", "shared.db"});
  int status = 0;
  ::waitpid(first, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  ::waitpid(second, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  // A run that the other one had is left to it; together they did all of them.
  for (int run = 1; run <= 4; ++run) EXPECT_EQ(model("whole", run), model("shared", run)) << run;
  const Finished results = boba({"results", "--db", "shared.db", "--csv"});
  EXPECT_EQ(std::count(results.out.begin(), results.out.end(), '\n'), 5) << results.out;
  EXPECT_EQ(results.out.find("running"), std::string::npos) << results.out;
}

TEST_F(RunTest, ThreadsAndJobsDoNotChangeABit) {
  ASSERT_EQ(boba({"run", "small.toml", "--db", "one.db", "--threads", "1"}).status, 0);
  ASSERT_EQ(boba({"run", "small.toml", "--db", "many.db", "--threads", "4", "--jobs", "2"}).status,
            0);
  for (int run = 1; run <= 4; ++run) EXPECT_EQ(model("one", run), model("many", run)) << run;
}

TEST_F(RunTest, DemoOnTheBuiltInDataEndsWithATableAndAReport) {
  const Finished demo =
      boba({"demo", "--experiment", "synthetic", "--set", "training.rounds=20", "--set", "seed=1"});
  ASSERT_EQ(demo.status, 0) << demo.err;
  EXPECT_NE(demo.out.find("accuracy %"), std::string::npos) << demo.out;
  EXPECT_NE(demo.out.find("has the best worst case"), std::string::npos) << demo.out;
  EXPECT_NE(demo.out.find("boba-demo.html"), std::string::npos) << demo.out;
  const std::string page = read_text(folder_ / "boba-demo.html");
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org"));
}

}  // namespace
}  // namespace boba::test
