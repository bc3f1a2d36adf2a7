// Grids with a database: what is run, what is not run again, what goes on where it stopped.

#include "simulator/train/runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "boba/rules/registry.h"
#include "simulator/store/safetensors.h"
#include "tests/support/sim_experiments.h"
#include "tests/support/tools_process.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

constexpr const char* kGrid = R"toml(
rule = ["average", "boba(f=2)"]
attack = ["none", "ipm"]
seed = 3
[data]
set = "synthetic(classes=3,side=5,train=270,test=90)"
[model]
kind = "mlp(width=8,depth=1)"
[training]
rounds = 5
[federation]
honest = 9
byzantine = 2
[server]
per_class = 4
[run]
evaluate_every = 2
)toml";

// Counts, and stops the runner after some rounds.
class Recorder final : public RunObserver {
 public:
  explicit Recorder(int stop_after = -1) : stop_after_(stop_after) {}

  void started(std::size_t /*index*/, std::int64_t run, const Simulation& simulation) override {
    const std::lock_guard lock(mutex_);
    first_[run] = simulation.rounds_done();
  }
  void round(std::size_t /*index*/, const RoundEntry& /*entry*/) override {
    const std::lock_guard lock(mutex_);
    ++rounds_;
    if (rounds_ == stop_after_) stop_ = true;
  }
  void ended(std::size_t /*index*/, std::int64_t run, RunEnd end,
             const std::string& message) override {
    const std::lock_guard lock(mutex_);
    ends_[run] = end;
    if (end == RunEnd::kFailed) messages_[run] = message;
  }

  std::size_t count(RunEnd end) const {
    std::size_t sum = 0;
    for (const auto& entry : ends_) sum += entry.second == end ? 1 : 0;
    return sum;
  }

  std::mutex mutex_;
  std::map<std::int64_t, int> first_;
  std::map<std::int64_t, RunEnd> ends_;
  std::map<std::int64_t, std::string> messages_;
  int rounds_ = 0;
  int stop_after_;
  std::atomic<bool> stop_{false};
};

// Has no memory for what it is told.
class Overwhelmed final : public RunObserver {
 public:
  void started(std::size_t /*index*/, std::int64_t /*run*/, const Simulation& /*s*/) override {}
  void round(std::size_t /*index*/, const RoundEntry& /*entry*/) override {
    throw std::bad_alloc();
  }
  void ended(std::size_t /*index*/, std::int64_t /*run*/, RunEnd end,
             const std::string& message) override {
    if (end == RunEnd::kFailed) failures_.push_back(message);
  }

  std::vector<std::string> failures_;
};

class RunnerTest : public ::testing::Test {
 protected:
  Grid grid(const std::vector<Override>& overrides = {}) {
    auto parsed = parse_grid(kGrid, "test.toml", "test", overrides);
    EXPECT_TRUE(parsed.ok()) << parsed.error().message;
    return std::move(*parsed);
  }
  Store open(const std::string& name) {
    auto store = Store::open(folder_ / name, OpenMode::kCreate);
    EXPECT_TRUE(store.ok()) << store.error().message;
    return std::move(*store);
  }
  void run(const Grid& grid, Store& store, Recorder& recorder, ClaimMode mode = ClaimMode::kNew,
           int jobs = 1) {
    const Result<void> done =
        run_grid(grid, data_, store,
                 {.jobs = jobs, .threads = 2, .mode = mode, .stop = &recorder.stop_}, recorder);
    EXPECT_TRUE(done.ok()) << done.error().message;
  }
  // The model's bytes and the numbers of a run that must not depend on anything.
  std::string fingerprint(const Store& store, std::int64_t id) {
    const auto record = store.run(id);
    EXPECT_TRUE(record.ok());
    std::ostringstream text;
    text << test::read_text(store.file().parent_path() / record->model_file);
    const auto evaluations = store.evaluations(id);
    for (const EvaluationRecord& e : *evaluations) {
      text << e.round << '/' << *e.loss << '/' << e.accuracy;
      for (const std::int64_t count : e.confusion) text << ',' << count;
    }
    const auto rounds = store.rounds(id);
    for (const RoundRecord& r : *rounds) {
      text << '|' << r.update_norm;
      for (const int client : r.rejected) text << ',' << client;
    }
    return text.str();
  }

  test::TemporaryFolder folder_;
  DatasetCache data_{DataSources{}};
};

TEST_F(RunnerTest, RunsTheGridOnceAndStoresIt) {
  Store store = open("a.db");
  Recorder first;
  run(grid(), store, first);
  EXPECT_EQ(first.count(RunEnd::kFinished), 4U);
  EXPECT_EQ(first.rounds_, 20);
  const auto runs = store.runs();
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_EQ(runs->size(), 4U);
  for (const RunRecord& record : *runs) {
    EXPECT_EQ(record.status, RunStatus::kFinished);
    EXPECT_EQ(record.rounds_done, 5);
    EXPECT_TRUE(record.accuracy.has_value());
    EXPECT_TRUE(record.mrd.has_value()) << "the baseline is in the grid";
    const auto model = read_safetensors(folder_.path() / record.model_file);
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->tensors.size(), 4U);
    EXPECT_EQ(store.clients(record.id)->size(), record.header.attack == "none" ? 9U : 11U);
    EXPECT_EQ(store.rounds(record.id)->size(), 5U);
    EXPECT_EQ(store.evaluations(record.id)->size(), 3U);
    EXPECT_FALSE(store.checkpoint(record.id)->has_value());
  }
  Recorder second;
  run(grid(), store, second);
  EXPECT_EQ(second.count(RunEnd::kDone), 4U);
  EXPECT_EQ(second.rounds_, 0);
  Recorder third;
  run(grid(), store, third, ClaimMode::kRestart);
  EXPECT_EQ(third.count(RunEnd::kFinished), 4U);
  EXPECT_EQ(store.runs()->size(), 4U);
}

TEST_F(RunnerTest, ResumedEqualsUninterrupted) {
  Store whole = open("whole.db");
  Recorder all;
  run(grid(), whole, all);
  for (const int stop_after : {1, 4, 7, 13}) {
    Store parts = open("parts" + std::to_string(stop_after) + ".db");
    Recorder first(stop_after);
    run(grid(), parts, first);
    EXPECT_EQ(first.rounds_, stop_after);
    Recorder refused;
    run(grid(), parts, refused);
    EXPECT_EQ(refused.count(RunEnd::kUnfinished), 1U);
    Recorder second;
    run(grid(), parts, second, ClaimMode::kResume);
    for (std::int64_t id = 1; id <= 4; ++id) {
      EXPECT_EQ(fingerprint(whole, id), fingerprint(parts, id)) << stop_after << ": run " << id;
    }
  }
}

// A run has numbers of one kind of device.
TEST_F(RunnerTest, WhatAGpuBeganIsNotResumedOnTheProcessor) {
  const Grid one =
      grid({{.key = "rule", .value = "\"average\""}, {.key = "attack", .value = "\"none\""}});
  ASSERT_EQ(one.experiments.size(), 1U);
  const auto dataset = data_.get(one.experiments[0].data);
  Store store = open("gpu.db");
  const auto header = header_of(one.experiments[0], **dataset, "test", "cuda, a GPU");
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->gpu, "cuda, a GPU");
  const auto id = store.add_run(*header);
  EXPECT_EQ(store.run(*id)->header.gpu, "cuda, a GPU");
  ASSERT_TRUE(store.claim(*id, ClaimMode::kNew).ok());
  auto simulation = make_simulation(one.experiments[0], **dataset, {}, "test");
  ASSERT_TRUE(store.write_round(*id, *(*simulation)->step()).ok());
  ASSERT_TRUE(store.stop(*id).ok());

  Recorder resumed;
  run(one, store, resumed, ClaimMode::kResume);
  EXPECT_EQ(resumed.count(RunEnd::kFailed), 1U);
  EXPECT_NE(resumed.messages_[*id].find("1 rounds were done on a GPU"), std::string::npos)
      << resumed.messages_[*id];
  EXPECT_EQ(store.run(*id)->status, RunStatus::kStopped);
  EXPECT_EQ(store.run(*id)->rounds_done, 1);

  Recorder anew;
  run(one, store, anew, ClaimMode::kRestart);
  EXPECT_EQ(anew.count(RunEnd::kFinished), 1U);
  EXPECT_EQ(store.run(*id)->header.gpu, "");
}

TEST_F(RunnerTest, SeveralJobsGiveTheSameBytes) {
  Store one = open("one.db");
  Store four = open("four.db");
  Recorder first;
  Recorder second;
  run(grid(), one, first);
  run(grid(), four, second, ClaimMode::kNew, 4);
  EXPECT_EQ(second.count(RunEnd::kFinished), 4U);
  for (std::int64_t id = 1; id <= 4; ++id) {
    EXPECT_EQ(fingerprint(one, id), fingerprint(four, id)) << id;
  }
}

TEST_F(RunnerTest, ARunThatFailsDoesNotStopTheOthers) {
  Store store = open("a.db");
  Recorder recorder;
  Grid mixed = grid({{"rule", "[\"coomed\", \"average\"]"}});
  // 9 + 2 clients, buckets of 2: 5 rows are too few for krum with f = 4. A file that says so would
  // be refused.
  for (ResolvedExperiment& experiment : mixed.experiments) {
    if (experiment.rule == "coomed") experiment.round_aggregator = *make_aggregator("b-krum(f=4)");
  }
  run(mixed, store, recorder);
  EXPECT_EQ(recorder.count(RunEnd::kFailed), 2U);
  EXPECT_EQ(recorder.count(RunEnd::kFinished), 2U);
  for (const auto& entry : recorder.messages_) {
    EXPECT_EQ(store.run(entry.first)->status, RunStatus::kFailed);
    EXPECT_EQ(store.run(entry.first)->error, entry.second);
    EXPECT_FALSE(entry.second.empty());
  }
}

TEST_F(RunnerTest, MissingDataIsToldBeforeAnythingRuns) {
  Store store = open("a.db");
  Recorder recorder;
  const Result<void> done =
      run_grid(grid({{"data.set", "mnist"}, {"federation.honest", "100"}, {"rule", "average"}}),
               data_, store, {}, recorder);
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("mnist"), std::string::npos);
  EXPECT_TRUE(recorder.ends_.empty());
}

// Others that share the run would wait for ever; the caller ends them all.
TEST_F(RunnerTest, OutOfMemoryFailsOneRunAloneButIsThrownWhereOthersShareIt) {
  const Grid one = grid({{"rule", "\"average\""}, {"attack", "\"none\""}});
  Store store = open("memory.db");
  Overwhelmed alone;
  EXPECT_TRUE(run_grid(one, data_, store, {.threads = 1}, alone));
  EXPECT_EQ(alone.failures_, std::vector<std::string>{"out of memory"});
  const auto ranks = make_self_communicator();
  Overwhelmed leading;
  EXPECT_THROW(
      (void)run_grid(one, data_, store,
                     {.threads = 1, .mode = ClaimMode::kRestart, .ranks = ranks.get()}, leading),
      std::bad_alloc);
  EXPECT_TRUE(leading.failures_.empty());
}

}  // namespace
}  // namespace boba
