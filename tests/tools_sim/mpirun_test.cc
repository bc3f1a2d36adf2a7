// boba run under mpirun: runs, or the clients of one run, spread over ranks, with the same numbers.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "boba/dist/mpi.h"
#include "simulator/store/store.h"
#include "tests/support/tools_mpirun.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

constexpr const char* kExperiment = R"toml(# A small grid
rule = ["average", "boba(f=3)", "krum(f=3)"]
attack = "ipm"
seed = [1, 2]
[data]
set = "synthetic(train=800,test=200)"
partition = "shards(per_client=2)"
[model]
kind = "mlp(width=16,depth=1)"
[training]
rounds = 20
[federation]
honest = 20
byzantine = 3
[server]
per_class = 5
[run]
evaluate_every = 7
)toml";

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class MpirunRun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!mpi_built()) GTEST_SKIP() << "this build has no MPI";
    write_text(folder_ / "small.toml", kExperiment);
  }

  Finished alone(const std::string& db, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", "small.toml", "--quiet", "--db", db});
    return run_boba(more, {.folder = folder_.path()});
  }
  Finished ranks(int count, const std::string& db, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", "small.toml", "--quiet", "--db", db});
    const Finished finished = run_boba_on_ranks(folder_.path(), count, more);
    EXPECT_EQ(processes_left_in(folder_.path()), 0);
    return finished;
  }

  // Every number of every round of every run, by what the run is.
  std::vector<std::string> told(const std::string& db) {
    std::vector<std::string> lines;
    auto store = Store::open(folder_ / db, OpenMode::kExisting);
    if (!store) return {store.error().message};
    const auto runs = store->runs();
    for (const RunRecord& run : *runs) {
      std::string line = fmt::format("{} {} {} {} {}", run.header.rule, run.header.attack,
                                     run.header.seed, name(run.status), run.rounds_done);
      const auto rounds = store->rounds(run.id);
      const auto evaluations = store->evaluations(run.id);
      for (const RoundRecord& round : *rounds) {
        line += fmt::format(" {:a}", round.update_norm);
      }
      for (const EvaluationRecord& evaluation : *evaluations) {
        line += fmt::format(" {:a} {:a}", evaluation.accuracy, evaluation.loss.value_or(-1));
      }
      const std::string model = fmt::format("{}.models/run-{}.safetensors", db, run.id);
      lines.push_back(line + "\n" + read_text(folder_ / model));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  // Two ranks, of which rank 1 is killed once the database shows a round. What looks into the
  // database is no part of the job.
  Finished with_a_death(const std::string& db, int rounds, const std::string& more) {
    const std::string program = boba_program().string();
    const std::string line = fmt::format(
        "if [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then pid=$$; "
        "(while kill -0 $pid && ! env -u OMPI_COMM_WORLD_RANK {0} results --db {1} | grep -q ' "
        "[1-9][0-9]*/{2} '; do "
        "sleep 0.1; done >/dev/null 2>&1; date +%s >killed; kill -9 $pid) & fi; "
        "exec {0} run small.toml --quiet --db {1} --set training.rounds={2} {3}",
        program, db, rounds, more);
    const Finished finished = run_mpirun(folder_.path(), {"-n", "2", "sh", "-c", line});
    EXPECT_EQ(processes_left_in(folder_.path()), 0);
    return finished;
  }
  double killed_at() { return std::stod(read_text(folder_ / "killed")); }
  static double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  TemporaryFolder folder_;
};

TEST_F(MpirunRun, ASweepIsSpreadAndGivesTheNumbersOfOneProcess) {
  const Finished one = alone("one.db");
  ASSERT_EQ(one.status, 0) << one.err;
  for (const int count : {2, 4}) {
    const std::string db = fmt::format("ranks{}.db", count);
    const Finished finished = ranks(count, db);
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_TRUE(told(db) == told("one.db"));
    // Rank 0 alone says how it went, in the words of one process.
    EXPECT_EQ(count_of(finished.out, "Accuracy in percent"), 1U) << finished.out;
    EXPECT_EQ(count_of(finished.out, fmt::format("6 runs in {}", db)), 1U) << finished.out;
    EXPECT_EQ(finished.out.substr(0, finished.out.find("6 runs")),
              one.out.substr(0, one.out.find("6 runs")));
  }
}

TEST_F(MpirunRun, TheClientsOfOneRunAreSpread) {
  for (const char* rule : {"boba(f=3)", "average"}) {
    const std::vector<std::string> only = {"--set", "seed=1", "--set", fmt::format("rule={}", rule),
                                           "--again"};
    ASSERT_EQ(alone("one.db", only).status, 0);
    for (const int count : {2, 3}) {
      const std::string db = fmt::format("clients{}.db", count);
      const Finished finished = ranks(count, db, only);
      ASSERT_EQ(finished.status, 0) << finished.err;
      EXPECT_TRUE(told(db) == told("one.db")) << rule << " on " << count;
      EXPECT_EQ(count_of(finished.out, "Accuracy in percent"), 1U) << finished.out;
    }
  }
  // Finished is finished.
  const Finished again = ranks(2, "clients2.db", {"--set", "seed=1", "--set", "rule=average"});
  EXPECT_EQ(again.status, 0) << again.err;
}

TEST_F(MpirunRun, LocalTrainingOfSeveralStepsToo) {
  const std::vector<std::string> more = {"--set", "seed=1",
                                         "--set", "rule=boba(f=3)",
                                         "--set", "training.algorithm=fedavg",
                                         "--set", "training.local_steps=3"};
  ASSERT_EQ(alone("one.db", more).status, 0);
  const Finished finished = ranks(3, "clients.db", more);
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(told("clients.db") == told("one.db"));
}

TEST_F(MpirunRun, ADeadRankEndsTheJobWithinSeconds) {
  for (const bool sweep : {true, false}) {
    SCOPED_TRACE(sweep);
    const std::string db = sweep ? "sweep.db" : "clients.db";
    const Finished dead = with_a_death(db, 100000, sweep ? "" : "--set seed=1 --set rule=average");
    EXPECT_NE(dead.status, 0);
    EXPECT_NE(dead.err.find("signal 9"), std::string::npos) << dead.err;
    ASSERT_GT(killed_at(), 0);
    EXPECT_LT(now() - killed_at(), 10);
    auto store = Store::open(folder_ / db, OpenMode::kExisting);
    ASSERT_TRUE(store) << store.error().message;
    int begun = 0;
    const auto runs = store->runs();
    for (const RunRecord& run : *runs) begun += run.rounds_done > 0 ? 1 : 0;
    EXPECT_GT(begun, 0) << "what was done is kept";
  }
}

TEST_F(MpirunRun, AfterADeathItIsResumedToTheSameNumbers) {
  const std::vector<std::string> only = {"--set",          "seed=1", "--set",
                                         "rule=boba(f=3)", "--set",  "training.rounds=300"};
  ASSERT_EQ(alone("one.db", only).status, 0);
  const Finished dead = with_a_death("again.db", 300, "--set seed=1 --set 'rule=boba(f=3)'");
  EXPECT_NE(dead.status, 0);
  {
    auto store = Store::open(folder_ / "again.db", OpenMode::kExisting);
    ASSERT_TRUE(store) << store.error().message;
    const auto runs = store->runs();
    ASSERT_EQ(runs->size(), 1U);
    EXPECT_NE(runs->front().status, RunStatus::kFinished);
    EXPECT_GT(runs->front().rounds_done, 0);
    EXPECT_LT(runs->front().rounds_done, 300);
  }
  std::vector<std::string> resume = only;
  resume.push_back("--resume");
  const Finished finished = ranks(2, "again.db", resume);
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(told("again.db") == told("one.db"));
}

// Two ranks in folders of their own, as on two machines that share nothing.
TEST_F(MpirunRun, DatabasesThatAreNotSharedAreNoticed) {
  for (const char* name : {"0", "1"}) {
    std::filesystem::create_directory(folder_ / name);
    write_text(folder_.path() / name / "small.toml", kExperiment);
  }
  const auto apart = [&](const std::string& more) {
    const std::string line =
        fmt::format("cd $OMPI_COMM_WORLD_RANK && exec {} run small.toml --quiet --db runs.db {}",
                    boba_program().string(), more);
    return run_mpirun(folder_.path(), {"-n", "2", "sh", "-c", line});
  };
  // Where the second has none, and where it has one of its own.
  for (const bool own : {false, true}) {
    if (own) {
      ASSERT_TRUE(Store::open(folder_ / "1/runs.db", OpenMode::kCreate));
    }
    const Finished finished = apart("");
    EXPECT_NE(finished.status, 0);
    EXPECT_EQ(count_of(finished.err, "all ranks must see one file"), 1U) << finished.err;
    EXPECT_EQ(count_of(finished.err, "rank 1 on "), 1U) << finished.err;
    EXPECT_EQ(std::filesystem::exists(folder_ / "1/runs.db"), own);
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "0")) {
      EXPECT_FALSE(entry.path().filename().string().starts_with(".boba")) << entry.path();
    }
  }
  std::filesystem::remove(folder_ / "1/runs.db");
  // A single run needs rank 0's only.
  const Finished single = apart("--set seed=1 --set rule=average");
  EXPECT_EQ(single.status, 0) << single.err;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "0/runs.db"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "1/runs.db"));
  EXPECT_EQ(processes_left_in(folder_.path()), 0);
}

TEST_F(MpirunRun, RanksWithOtherSettingsAreNoticed) {
  for (const char* more : {"--set training.rounds=21", "--set seed=1", "--resume"}) {
    const std::string line = fmt::format(
        "[ $OMPI_COMM_WORLD_RANK = 1 ] && more='{}'; exec {} run small.toml --quiet --db apart.db "
        "$more",
        more, boba_program().string());
    const Finished finished = run_mpirun(folder_.path(), {"-n", "2", "sh", "-c", line});
    EXPECT_NE(finished.status, 0) << more;
    EXPECT_EQ(count_of(finished.err, "boba run: the ranks differ"), 1U) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "apart.db"));
    EXPECT_EQ(processes_left_in(folder_.path()), 0);
  }
  // What only one rank cannot read is said too, with its name.
  const std::string line = fmt::format(
      "file=small.toml; [ $OMPI_COMM_WORLD_RANK = 1 ] && file=missing.toml; exec {} run $file "
      "--quiet --db apart.db",
      boba_program().string());
  const Finished missing = run_mpirun(folder_.path(), {"-n", "2", "sh", "-c", line});
  EXPECT_NE(missing.status, 0);
  EXPECT_EQ(count_of(missing.err, "boba run: rank 1 on "), 1U) << missing.err;
}

TEST_F(MpirunRun, MistakesAreSaidOnce) {
  const Finished missing = run_boba_on_ranks(folder_.path(), 3, {"run", "missing.toml"});
  EXPECT_NE(missing.status, 0);
  EXPECT_EQ(count_of(missing.err, "boba run: no file or shipped experiment 'missing.toml'"), 1U)
      << missing.err;
  const Finished nowhere = ranks(2, "no/where.db");
  EXPECT_NE(nowhere.status, 0);
  EXPECT_EQ(count_of(nowhere.err, "boba run: "), 1U) << nowhere.err;
  const Finished data =
      ranks(2, "data.db", {"--set", "data.set=mnist", "--data", "no-such-folder"});
  EXPECT_NE(data.status, 0);
  EXPECT_EQ(count_of(data.err, "boba run: "), 1U) << data.err;
  const Finished dry = ranks(3, "dry.db", {"--dry-run"});
  EXPECT_EQ(dry.status, 0) << dry.err;
  EXPECT_EQ(count_of(dry.out, "nothing was run"), 1U) << dry.out;
}

}  // namespace
}  // namespace boba::test
