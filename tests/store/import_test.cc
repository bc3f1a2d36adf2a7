// Databases of other machines become one; contradictions are refused.

#include <gtest/gtest.h>

#include <fstream>

#include "simulator/store/schema.h"
#include "simulator/store/sqlite.h"
#include "simulator/store/store.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using store::Access;
using store::Database;

class Import : public ::testing::Test {
 protected:
  Store open(const std::string& name) {
    auto opened = Store::open(folder_ / name, OpenMode::kCreate);
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }
  ImportReport import(Store& into, const std::string& from, ImportMode mode = ImportMode::kRefuse) {
    const auto report = into.import_from(folder_ / from, mode);
    if (!report) throw std::runtime_error(report.error().message);
    return *report;
  }
  // A run that stopped after some rounds.
  static std::int64_t add_stopped(Store& store, const RunHeader& header, int rounds) {
    const auto run = store.add_run(header);
    EXPECT_EQ(*store.claim(*run, ClaimMode::kNew), ClaimOutcome::kClaimed);
    EXPECT_TRUE(store.write_clients(*run, sample_clients()));
    for (int round = 1; round <= rounds; ++round) {
      EXPECT_TRUE(store.write_round(*run, sample_entry(round, {0.5, 0.5, 0.5})));
    }
    EXPECT_TRUE(store.stop(*run));
    return *run;
  }

  TemporaryFolder folder_;
};

TEST_F(Import, RunsAreCopiedWhole) {
  Store other = open("other.db");
  add_finished_run(other, sample_header("average", "none", 1), {1, 1, 0.7});
  add_finished_run(other, sample_header("boba(f=2)", "ipm", 1), {0.9, 0.8, 0.6});
  MeasurementRecord pca;
  pca.experiment = "pca";
  pca.config = "c";
  pca.data = "d";
  pca.seed = 3;
  pca.points = {{"s", 1, 2}, {"s", 2, 3}};
  ASSERT_TRUE(other.write_measurement(pca));
  Store mine = open("mine.db");
  add_finished_run(mine, sample_header("krum(f=2)", "lie", 1), {0.1, 0.2, 0.3});
  const ImportReport report = import(mine, "other.db");
  EXPECT_TRUE(report.written);
  EXPECT_EQ(report.copied, 2U);
  EXPECT_EQ(report.measurements, 1U);
  const auto runs = mine.runs();
  ASSERT_EQ(runs->size(), 3U);
  const RunRecord& boba = (*runs)[2];
  EXPECT_EQ(boba.header.rule, "boba(f=2)");
  EXPECT_EQ(boba.status, RunStatus::kFinished);
  EXPECT_NEAR(*boba.accuracy, 2.3 / 3, 1e-12);
  EXPECT_NEAR(*boba.mrd, 0.2, 1e-12) << "its baseline came with it";
  EXPECT_EQ(boba.model_file, "model.safetensors") << "beside the other database, which lies here";
  EXPECT_EQ(mine.clients(boba.id)->size(), 5U);
  EXPECT_EQ((*mine.clients(boba.id))[1].labels, (std::vector<std::size_t>{0, 6, 6}));
  ASSERT_EQ(mine.rounds(boba.id)->size(), 1U);
  EXPECT_EQ((*mine.rounds(boba.id))[0].update_norm, 1.0 / 3);
  EXPECT_EQ((*mine.rounds(boba.id))[0].fits, 3);
  EXPECT_EQ(mine.evaluations(boba.id)->back().confusion.size(), 9U);
  EXPECT_EQ((*mine.last_estimate(boba.id))->clients, (std::vector<int>{0, 3}));
  const auto measured = mine.measurements("pca");
  ASSERT_EQ(measured->size(), 1U);
  EXPECT_EQ((*measured)[0].seed, 3U);
  ASSERT_EQ((*measured)[0].points.size(), 2U);
  EXPECT_EQ((*measured)[0].points[1].y, 3);
}

TEST_F(Import, TheSecondTimeNothingHappens) {
  Store other = open("other.db");
  add_finished_run(other, sample_header("average", "none", 1), {1, 1, 0.7});
  Store mine = open("mine.db");
  import(mine, "other.db");
  const ImportReport again = import(mine, "other.db");
  EXPECT_TRUE(again.written);
  EXPECT_EQ(again.copied, 0U);
  EXPECT_EQ(again.identical, 1U);
  EXPECT_EQ(mine.runs()->size(), 1U);
}

TEST_F(Import, ContradictionsAreRefusedAndNothingIsWritten) {
  Store other = open("other.db");
  add_finished_run(other, sample_header("average", "none", 1), {1, 1, 0.7});
  add_finished_run(other, sample_header("boba(f=2)", "ipm", 1), {0.9, 0.9, 0.9});
  Store mine = open("mine.db");
  add_finished_run(mine, sample_header("boba(f=2)", "ipm", 1), {0.8, 0.8, 0.8});
  const ImportReport report = import(mine, "other.db");
  EXPECT_FALSE(report.written);
  ASSERT_EQ(report.contradictions.size(), 1U);
  const Contradiction& found = report.contradictions[0];
  EXPECT_EQ(found.ours, 1);
  EXPECT_EQ(found.theirs, 2);
  EXPECT_EQ(found.round, 20);
  EXPECT_NEAR(found.accuracy_ours, 0.8, 1e-12);
  EXPECT_NEAR(found.accuracy_theirs, 0.9, 1e-12);
  EXPECT_NE(found.what.find("boba(f=2)  ipm  seed 1"), std::string::npos);
  EXPECT_EQ(mine.runs()->size(), 1U);
  // Asked to, it keeps what is there and takes the rest.
  const ImportReport kept = import(mine, "other.db", ImportMode::kKeep);
  EXPECT_TRUE(kept.written);
  EXPECT_EQ(kept.copied, 1U);
  EXPECT_NEAR(*mine.run(1)->accuracy, 0.8, 1e-12);
}

TEST_F(Import, RoundingAndOtherVersionsAreNoContradiction) {
  Store other = open("other.db");
  RunHeader gpu = sample_header("boba(f=2)", "ipm", 1);
  gpu.version = "0.1.0, cuda, NVIDIA H200";
  add_finished_run(other, gpu, {0.9, 0.9, 0.9});
  add_finished_run(other, sample_header("boba(f=2)", "lie", 1), {0.803, 0.803, 0.803});
  Store mine = open("mine.db");
  add_finished_run(mine, sample_header("boba(f=2)", "ipm", 1), {0.8, 0.8, 0.8});
  add_finished_run(mine, sample_header("boba(f=2)", "lie", 1), {0.8, 0.8, 0.8});
  const ImportReport report = import(mine, "other.db");
  EXPECT_TRUE(report.written);
  EXPECT_EQ(report.other, 1U);
  EXPECT_EQ(report.identical, 1U);
  EXPECT_NEAR(*mine.run(1)->accuracy, 0.8, 1e-12);
}

TEST_F(Import, FinishedOnesWinOverUnfinishedOnes) {
  const RunHeader header = sample_header("boba(f=2)", "ipm", 1);
  Store other = open("other.db");
  add_finished_run(other, header, {0.9, 0.9, 0.9});
  Store mine = open("mine.db");
  add_stopped(mine, header, 2);
  const ImportReport report = import(mine, "other.db");
  EXPECT_EQ(report.replaced, 1U);
  const auto runs = mine.runs();
  ASSERT_EQ(runs->size(), 1U);
  EXPECT_EQ((*runs)[0].status, RunStatus::kFinished);
  EXPECT_EQ(mine.rounds((*runs)[0].id)->size(), 1U) << "nothing of the old one is left";
  // And the other way round nothing changes.
  Store late = open("late.db");
  add_stopped(late, header, 5);
  EXPECT_EQ(import(mine, "late.db").not_further, 1U);
  EXPECT_EQ((*mine.runs())[0].status, RunStatus::kFinished);
}

TEST_F(Import, OfUnfinishedOnesTheFurtherOneStays) {
  const RunHeader header = sample_header("boba(f=2)", "ipm", 1);
  Store other = open("other.db");
  add_stopped(other, header, 4);
  Store mine = open("mine.db");
  add_stopped(mine, header, 2);
  EXPECT_EQ(import(mine, "other.db").replaced, 1U);
  const std::int64_t run = (*mine.runs())[0].id;
  EXPECT_EQ(mine.run(run)->rounds_done, 4);
  EXPECT_EQ(**mine.checkpoint(run), "state 4") << "it can go on from there";
  EXPECT_EQ(import(mine, "other.db").not_further, 1U);
}

TEST_F(Import, ARunningOneIsCopiedAsStoppedAndLeftAloneHere) {
  const RunHeader header = sample_header("boba(f=2)", "ipm", 1);
  Store other = open("other.db");
  const auto run = other.add_run(header);
  ASSERT_EQ(*other.claim(*run, ClaimMode::kNew), ClaimOutcome::kClaimed);
  ASSERT_TRUE(other.write_round(*run, sample_entry(1, {0.5, 0.5, 0.5})));
  Store mine = open("mine.db");
  EXPECT_EQ(import(mine, "other.db").copied, 1U);
  EXPECT_EQ((*mine.runs())[0].status, RunStatus::kStopped);
  // This process holds the run in other.db: a finished one from elsewhere does not take it away.
  Store done = open("done.db");
  add_finished_run(done, header, {0.9, 0.9, 0.9});
  EXPECT_EQ(import(other, "done.db").busy, 1U);
  EXPECT_TRUE(other.write_round(*run, sample_entry(2)));
}

TEST_F(Import, AnOlderSchemaIsBroughtUpToDateFirst) {
  {
    auto old = Database::open(folder_ / "old.db", Access::kCreate);
    ASSERT_TRUE(old->script(store::migrations()[0]));
    const std::string marks = "PRAGMA application_id = " + std::to_string(store::kApplicationId) +
                              "; PRAGMA user_version = 1";
    ASSERT_TRUE(old->script(marks.c_str()));
    ASSERT_TRUE(old->script(R"(
      INSERT INTO runs (name, config, data, baseline, dataset, partition, model, algorithm, rule,
        attack, honest, byzantine, seed, rounds, parameters, classes, version, created, status)
      VALUES ('old', 'c', 'd', 'c', 'mnist', 'pairs', 'mlp', 'fedsgd', 'average', 'none', 2, 0, 3,
        1, 10, '["a","b"]', '0.0.9', '2024-01-01T00:00:00Z', 'finished');)"));
  }
  Store mine = open("mine.db");
  EXPECT_EQ(import(mine, "old.db").copied, 1U);
  EXPECT_EQ((*mine.runs())[0].header.name, "old");
}

// The device is a column of its own: the text of the version is not asked.
TEST_F(Import, TheGpuComesWithTheRun) {
  Store other = open("other.db");
  RunHeader header = sample_header("boba(f=2)", "ipm", 1);
  header.gpu = "cuda, NVIDIA H200";
  add_finished_run(other, header, {0.9, 0.9, 0.9});
  add_finished_run(other, sample_header("boba(f=2)", "lie", 1), {0.9, 0.9, 0.9});
  EXPECT_EQ(other.run(1)->header.gpu, "cuda, NVIDIA H200");
  Store mine = open("mine.db");
  EXPECT_EQ(import(mine, "other.db").copied, 2U);
  EXPECT_EQ(mine.run(1)->header.gpu, "cuda, NVIDIA H200");
  EXPECT_EQ(mine.run(2)->header.gpu, "");
  // From a file of version 3, which has it in the version's text.
  {
    auto old = Database::open(folder_ / "old.db", Access::kCreate);
    for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(old->script(store::migrations()[i]));
    const std::string marks = "PRAGMA application_id = " + std::to_string(store::kApplicationId) +
                              "; PRAGMA user_version = 3";
    ASSERT_TRUE(old->script(marks.c_str()));
    ASSERT_TRUE(old->script(R"(
      INSERT INTO runs (name, config, data, baseline, dataset, partition, model, algorithm, rule,
        attack, honest, byzantine, seed, rounds, parameters, classes, version, created, status)
      VALUES ('old', 'c', 'd', 'c', 'mnist', 'pairs', 'mlp', 'fedsgd', 'average', 'none', 2, 0, 3,
        1, 10, '["a","b"]', '0.0.9, cuda, A GPU', '2024-01-01T00:00:00Z', 'finished');)"));
  }
  EXPECT_EQ(import(mine, "old.db").copied, 1U);
  EXPECT_EQ(mine.run(3)->header.version, "0.0.9, cuda, A GPU");
  EXPECT_EQ(mine.run(3)->header.gpu, "cuda, A GPU");
}

TEST_F(Import, WhatIsNoDatabaseIsRefused) {
  Store mine = open("mine.db");
  const auto refusal = [&](const std::string& name) {
    const auto report = mine.import_from(folder_ / name, ImportMode::kRefuse);
    return report ? "" : report.error().message;
  };
  EXPECT_NE(refusal("missing.db").find("there is no such"), std::string::npos);
  write_text(folder_ / "text.db", std::string(5000, 'x'));
  EXPECT_NE(refusal("text.db").find("not a database"), std::string::npos) << refusal("text.db");
  EXPECT_NE(refusal("mine.db").find("is the database itself"), std::string::npos);
  { Store newer = open("newer.db"); }
  {
    auto raw = Database::open(folder_ / "newer.db", Access::kReadWrite);
    ASSERT_TRUE(raw->script("PRAGMA user_version = 99"));
  }
  EXPECT_NE(refusal("newer.db").find("version 99"), std::string::npos) << refusal("newer.db");
  EXPECT_TRUE(mine.runs()->empty());
}

// Bytes in the middle of a file are lost; whatever SQLite makes of it, this one stays whole.
TEST_F(Import, ABrokenFileLeavesThisOneAsItWas) {
  {
    Store other = open("other.db");
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      add_finished_run(other, sample_header("average", "none", seed), {1, 1, 0.7});
    }
  }
  const std::string whole = read_text(folder_ / "other.db");
  Store mine = open("mine.db");
  add_finished_run(mine, sample_header("krum(f=2)", "lie", 1), {0.1, 0.2, 0.3});
  int refused = 0;
  for (std::uint32_t trial = 0; trial < 12; ++trial) {
    std::string broken = whole.substr(0, 4096) + damaged(whole.substr(4096), trial, 2000);
    write_text(folder_ / "broken.db", broken);
    const auto report = mine.import_from(folder_ / "broken.db", ImportMode::kRefuse);
    if (report) continue;
    ++refused;
    EXPECT_EQ(mine.runs()->size(), 1U) << report.error().message;
  }
  EXPECT_GT(refused, 0);
}

TEST(Measurements, TakeThePlaceOfTheSameOnes) {
  const TemporaryFolder folder;
  auto store = Store::open(folder / "m.db", OpenMode::kCreate);
  MeasurementRecord record;
  record.experiment = "time";
  record.config = "rule = boba";
  record.seed = 1;
  record.points = {{"ms", 0, 5}, {"ms", 1, 6}, {"other", 0, 7}};
  ASSERT_TRUE(store->write_measurement(record));
  record.points = {{"ms", 0, 8}};
  ASSERT_TRUE(store->write_measurement(record));
  record.seed = 2;
  record.points = {};
  ASSERT_TRUE(store->write_measurement(record));
  const auto all = store->measurements();
  ASSERT_EQ(all->size(), 2U);
  ASSERT_EQ((*all)[0].points.size(), 1U);
  EXPECT_EQ((*all)[0].points[0].y, 8);
  EXPECT_TRUE((*all)[1].points.empty());
  EXPECT_TRUE(store->measurements("pca")->empty());
  EXPECT_FALSE((*all)[0].created.empty());
}

}  // namespace
}  // namespace boba::test
