// boba run, from the outside: grids, Ctrl-C, kill -9, two processes.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
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

  // Waits until run 1 has done some of its rounds.
  bool wait_for_progress(const std::string& db) {
    for (int k = 0; k < 1500; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (!std::filesystem::exists(folder_.path() / db)) continue;
      const Finished begun =
          boba({"results", "--db", db, "--csv", "--where", "rounds_done>0,status=running"});
      if (begun.status == 0 && std::count(begun.out.begin(), begun.out.end(), '\n') > 1)
        return true;
    }
    return false;
  }

  std::string model(const std::string& db, int run) {
    return read_text(folder_.path() / (db + ".db.models") /
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
  const std::vector<std::string> one_run = {"run",   "small.toml", "--set", "rule=boba(f=3)",
                                            "--set", "seed=1",     "--set", "training.rounds=1500",
                                            "--db"};
  const auto with = [&](const std::string& db, const std::vector<std::string>& rest) {
    std::vector<std::string> arguments = one_run;
    arguments.push_back(db);
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return arguments;
  };
  ASSERT_EQ(boba(with("whole.db", {})).status, 0);
  for (int kills = 0; kills < 3; ++kills) {
    const pid_t child = start(with("killed.db", {"--resume"}));
    ASSERT_GT(child, 0);
    ASSERT_TRUE(wait_for_progress("killed.db")) << read_text(folder_ / "run.err");
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended before it was killed";
  }
  // A run that a dead process left is not taken for a running one.
  const Finished refused = boba(with("killed.db", {}));
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("--resume"), std::string::npos) << refused.err;
  const Finished resumed = boba(with("killed.db", {"--resume"}));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resumed after round"), std::string::npos) << resumed.err;
  EXPECT_EQ(model("whole", 1), model("killed", 1));
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

TEST_F(RunTest, SweepsOverOtherKeysAreNotPooled) {
  const Finished swept = boba({"run", "small.toml", "--db", "a.db", "--set",
                               "training.rounds=[2,60]", "--set", "seed=1", "--quiet"});
  ASSERT_EQ(swept.status, 0) << swept.err;
  EXPECT_NE(swept.out.find("training.rounds"), std::string::npos) << swept.out;
  EXPECT_EQ(swept.out.find("±"), std::string::npos) << "one seed has no deviation: " << swept.out;
  EXPECT_EQ(swept.err, "");
}

TEST_F(RunTest, ALostModelIsARunLikeAnyOther) {
  const Finished lost =
      boba({"run", "small.toml", "--db", "a.db", "--set", "training.learning_rate=1000000", "--set",
            R"x(rule=["average","boba(f=3)","fltrust","zeno(f=3)","server","bygars"])x", "--set",
            "seed=1", "--set", "attack=gauss", "--set", "training.rounds=6"});
  EXPECT_EQ(lost.status, 0) << lost.err;
  EXPECT_EQ(boba({"results", "--db", "a.db", "--csv"}).out.find("failed"), std::string::npos);
}

TEST_F(RunTest, ARunWithoutMemoryFailsAlone) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  const ProcessOptions little{.folder = folder_.path(), .data_limit = std::size_t{3} << 30};
  const Finished done = run_boba(
      {"run", "small.toml", "--db", "a.db", "--set", "seed=1", "--set", "rule=average", "--set",
       "training.rounds=2", "--set", R"x(model.kind=["mlp(width=8192,depth=6)","mlp(width=8)"])x"},
      little);
  EXPECT_EQ(done.status, 1) << done.out;
  EXPECT_NE(done.err.find("out of memory"), std::string::npos) << done.err;
  const std::string results = boba({"results", "--db", "a.db", "--csv"}).out;
  EXPECT_NE(results.find("failed"), std::string::npos) << results;
  EXPECT_NE(results.find("finished"), std::string::npos) << results;
}

TEST_F(RunTest, DemoOnTheBuiltInDataEndsWithATableAndAReport) {
  const Finished demo =
      boba({"demo", "--experiment", "synthetic", "--set", "training.rounds=20", "--set", "seed=1"});
  ASSERT_EQ(demo.status, 0) << demo.err;
  EXPECT_NE(demo.out.find("accuracy %"), std::string::npos) << demo.out;
  EXPECT_NE(demo.out.find("Under attack "), std::string::npos) << demo.out;
  EXPECT_NE(demo.out.find(" has the highest accuracy, "), std::string::npos) << demo.out;
  // The demo explains BOBA only if BOBA won.
  EXPECT_EQ(demo.out.find("BOBA") != std::string::npos,
            demo.out.find("Under attack boba(") != std::string::npos)
      << demo.out;
  EXPECT_NE(demo.out.find("boba-demo.html"), std::string::npos) << demo.out;
  const std::string page = read_text(folder_ / "boba-demo.html");
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org"));
}

TEST_F(RunTest, DemoExplainsOnlyWhatItsNumbersShow) {
  const std::vector<std::string> common = {"demo",   "--experiment", "synthetic",        "--set",
                                           "seed=1", "--set",        "training.rounds=5"};
  const auto demo = [&](std::vector<std::string> more) {
    std::vector<std::string> words = common;
    words.insert(words.end(), more.begin(), more.end());
    return boba(words);
  };
  const Finished other = demo({"--set", "rule=[\"average\",\"server\"]", "--db", "other.db"});
  ASSERT_EQ(other.status, 0) << other.err;
  EXPECT_NE(other.out.find("Under attack "), std::string::npos) << other.out;
  EXPECT_EQ(other.out.find("BOBA"), std::string::npos) << other.out;
  const Finished quiet = demo({"--set", "attack=none", "--db", "quiet.db"});
  ASSERT_EQ(quiet.status, 0) << quiet.err;
  EXPECT_EQ(quiet.out.find("Under attack"), std::string::npos) << quiet.out;
}

}  // namespace
}  // namespace boba::test
