// What goes into a database comes out of it.

#include "simulator/store/store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "simulator/store/sqlite.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() : store_(std::move(*Store::open(folder_.path() / "boba.db", OpenMode::kCreate))) {}

  std::int64_t claimed(const RunHeader& header = sample_header()) {
    const auto run = store_.add_run(header);
    EXPECT_TRUE(run);
    EXPECT_EQ(*store_.claim(*run, ClaimMode::kNew), ClaimOutcome::kClaimed);
    return *run;
  }
  void write(std::int64_t run, const RoundEntry& entry) {
    const auto written = store_.write_round(run, entry);
    ASSERT_TRUE(written) << written.error().message;
  }
  std::int64_t query(const char* sql) {
    auto database = store::Database::open(folder_.path() / "boba.db", store::Access::kReadOnly);
    EXPECT_TRUE(database);
    const auto value = database->integer(sql);
    EXPECT_TRUE(value) << sql;
    return value ? *value : -1;
  }

  TemporaryFolder folder_;
  Store store_;
};

TEST_F(StoreTest, KeepsAHeader) {
  RunHeader header = sample_header();
  header.seed = std::numeric_limits<std::uint64_t>::max() - 4;
  header.classes = {"a \"quoted\" one", "na\xc3\xafve", ""};
  const auto run = store_.add_run(header);
  ASSERT_TRUE(run);
  const auto record = store_.run(*run);
  ASSERT_TRUE(record);
  const RunHeader& kept = record->header;
  EXPECT_EQ(record->id, *run);
  EXPECT_EQ(kept.name, header.name);
  EXPECT_EQ(kept.config, header.config);
  EXPECT_EQ(kept.data, header.data);
  EXPECT_EQ(kept.baseline, header.baseline);
  EXPECT_EQ(kept.dataset, header.dataset);
  EXPECT_EQ(kept.partition, header.partition);
  EXPECT_EQ(kept.model, header.model);
  EXPECT_EQ(kept.algorithm, header.algorithm);
  EXPECT_EQ(kept.rule, header.rule);
  EXPECT_EQ(kept.attack, header.attack);
  EXPECT_EQ(kept.honest, 4);
  EXPECT_EQ(kept.byzantine, 1);
  EXPECT_EQ(kept.seed, header.seed);
  EXPECT_EQ(kept.rounds, 20);
  EXPECT_EQ(kept.parameters, 1234u);
  EXPECT_EQ(kept.classes, header.classes);
  EXPECT_EQ(kept.version, "0.1.0");
  EXPECT_EQ(record->status, RunStatus::kWaiting);
  EXPECT_EQ(record->rounds_done, 0);
  EXPECT_EQ(record->accuracy, std::nullopt);
  EXPECT_EQ(record->mrd, std::nullopt);
  EXPECT_EQ(record->seconds, 0);
  EXPECT_EQ(record->created.size(), 20u) << record->created;
  EXPECT_EQ(record->finished, "");
}

TEST_F(StoreTest, ConfigAndDataIdentifyARun) {
  const RunHeader header = sample_header();
  const auto first = store_.add_run(header);
  RunHeader renamed = header;
  renamed.name = "another file, the same run";
  EXPECT_EQ(*store_.add_run(renamed), *first);
  RunHeader other_data = header;
  other_data.data = "other";
  EXPECT_NE(*store_.add_run(other_data), *first);
  EXPECT_NE(*store_.add_run(sample_header("krum", "none")), *first);
  EXPECT_EQ(store_.runs()->size(), 3u);
}

TEST_F(StoreTest, HostileTextsAreTexts) {
  RunHeader header = sample_header("x'); DROP TABLE runs; --", "\"attack\" ?1 :a %s {}");
  header.classes = {std::string("\xff\xfe broken", 9), "b", "c"};
  const auto run = store_.add_run(header);
  ASSERT_TRUE(run);
  EXPECT_EQ(store_.run(*run)->header.rule, header.rule);
  EXPECT_EQ(store_.run(*run)->header.attack, header.attack);
  EXPECT_EQ(store_.run(*run)->header.classes.size(), 3u);
}

TEST_F(StoreTest, KeepsClients) {
  const std::int64_t run = claimed();
  ASSERT_TRUE(store_.write_clients(run, sample_clients()));
  // Again, as a run that is resumed does.
  ASSERT_TRUE(store_.write_clients(run, sample_clients()));
  const auto clients = store_.clients(run);
  ASSERT_TRUE(clients);
  const auto expected = sample_clients();
  ASSERT_EQ(clients->size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*clients)[i].client, expected[i].client);
    EXPECT_EQ((*clients)[i].honest, expected[i].honest);
    EXPECT_EQ((*clients)[i].labels, expected[i].labels);
    EXPECT_EQ((*clients)[i].corruption, expected[i].corruption);
  }
}

TEST_F(StoreTest, KeepsARound) {
  const std::int64_t run = claimed();
  RoundEntry entry = sample_entry(1);
  entry.round.participants = {1, 3, 4};
  entry.round.false_accepts = 2;
  entry.round.note = "only 3 clients";
  write(run, entry);
  RoundEntry bare;
  bare.round.round = 2;
  write(run, bare);
  const auto rounds = store_.rounds(run);
  ASSERT_TRUE(rounds);
  ASSERT_EQ(rounds->size(), 2u);
  const RoundRecord& first = (*rounds)[0];
  EXPECT_EQ(first.round, 1);
  EXPECT_EQ(first.learning_rate, 0.1);
  EXPECT_EQ(first.train_seconds, 1);
  EXPECT_EQ(first.attack_seconds, 0.25);
  EXPECT_EQ(first.aggregate_seconds, 0.5);
  EXPECT_EQ(first.evaluate_seconds, 0.125);
  EXPECT_EQ(first.update_norm, 1.0 / 3);
  EXPECT_EQ(first.participants, (std::vector<int>{1, 3, 4}));
  EXPECT_EQ(first.rejected, (std::vector<int>{4}));
  EXPECT_EQ(first.false_accepts, 2);
  EXPECT_EQ(first.false_rejects, 0);
  EXPECT_EQ(first.label_error, 0.1);
  EXPECT_EQ(first.fits, 3);
  EXPECT_EQ(first.note, "only 3 clients");
  const RoundRecord& second = (*rounds)[1];
  EXPECT_TRUE(second.participants.empty());
  EXPECT_TRUE(second.rejected.empty());
  EXPECT_EQ(second.label_error, std::nullopt);
  EXPECT_EQ(second.fits, std::nullopt);
  EXPECT_EQ(second.note, "");
}

TEST_F(StoreTest, KeepsEvaluationsAndTheLastEstimate) {
  const std::int64_t run = claimed();
  EXPECT_EQ(*store_.last_estimate(run), std::nullopt);
  write(run, sample_entry(1, {0.25, 0.5, 0.75}));
  write(run, sample_entry(2));
  write(run, sample_entry(3, {1.0 / 3, 1, 0}));
  const auto evaluations = store_.evaluations(run);
  ASSERT_TRUE(evaluations);
  ASSERT_EQ(evaluations->size(), 2u);
  EXPECT_EQ((*evaluations)[0].round, 1);
  EXPECT_EQ((*evaluations)[0].accuracy, 0.5);
  EXPECT_EQ((*evaluations)[0].loss, 0.7);
  EXPECT_EQ((*evaluations)[1].round, 3);
  EXPECT_EQ((*evaluations)[1].recall, (std::vector<double>{1.0 / 3, 1, 0}));
  EXPECT_EQ((*evaluations)[1].confusion, (std::vector<std::int64_t>{8, 1, 1, 2, 7, 1, 0, 0, 10}));
  const auto estimate = store_.last_estimate(run);
  ASSERT_TRUE(estimate && *estimate);
  EXPECT_EQ((*estimate)->round, 3);
  EXPECT_EQ((*estimate)->clients, (std::vector<int>{0, 3}));
  EXPECT_EQ((*estimate)->shares,
            (std::vector<std::vector<double>>{{0.5, 0, 0.5}, {0.25, 0.5, 0.25}}));
}

TEST_F(StoreTest, NumbersThatAreNoneAreNull) {
  const std::int64_t run = claimed();
  RoundEntry entry = sample_entry(1, {kNan, 0.5, kInfinity});
  entry.round.learning_rate = kInfinity;
  entry.round.train_seconds = kNan;
  entry.round.update_norm = -kInfinity;
  entry.round.label_error = kNan;
  entry.evaluation->accuracy = kNan;
  entry.evaluation->loss = kInfinity;
  entry.estimate->shares[0][0] = kNan;
  write(run, entry);
  EXPECT_EQ(query("SELECT count(*) FROM rounds WHERE learning_rate IS NULL AND train_seconds IS"
                  " NULL AND update_norm IS NULL AND label_error IS NULL"),
            1);
  EXPECT_EQ(query("SELECT count(*) FROM recalls WHERE recall IS NULL"), 2);
  EXPECT_EQ(query("SELECT count(*) FROM label_estimates WHERE share IS NULL"), 1);
  const auto record = store_.run(run);
  EXPECT_EQ(record->accuracy, std::nullopt);
  EXPECT_EQ(record->seconds, 0.875);
  EXPECT_TRUE(std::isnan((*store_.rounds(run))[0].update_norm));
  EXPECT_EQ((*store_.rounds(run))[0].label_error, std::nullopt);
  const auto evaluation = (*store_.evaluations(run))[0];
  EXPECT_EQ(evaluation.loss, std::nullopt);
  ASSERT_EQ(evaluation.recall.size(), 3u);
  EXPECT_TRUE(std::isnan(evaluation.recall[0]));
  EXPECT_EQ(evaluation.recall[1], 0.5);
  EXPECT_TRUE(std::isnan((*store_.last_estimate(run))->shares[0][0]));
}

TEST_F(StoreTest, ARoundCountsInTheRun) {
  const std::int64_t run = claimed();
  write(run, sample_entry(1, {0.5, 0.5, 0.5}));
  write(run, sample_entry(2, {0.5, 0.75, 1}));
  const auto record = store_.run(run);
  EXPECT_EQ(record->rounds_done, 2);
  EXPECT_EQ(record->accuracy, 0.75);
  EXPECT_EQ(record->seconds, 2 * 1.875);
  EXPECT_EQ(*store_.checkpoint(run), "state 2");
}

TEST_F(StoreTest, ARoundWrittenAgainReplacesItAndTheLaterOnes) {
  const std::int64_t run = claimed();
  for (int round = 1; round <= 4; ++round) write(run, sample_entry(round, {0.5, 0.5, 0.5}));
  RoundEntry again = sample_entry(2);
  again.round.train_seconds = 3;
  write(run, again);
  EXPECT_EQ(store_.rounds(run)->size(), 2u);
  EXPECT_EQ((*store_.rounds(run))[1].train_seconds, 3);
  EXPECT_EQ(store_.evaluations(run)->size(), 1u);
  EXPECT_EQ((*store_.last_estimate(run))->round, 1);
  EXPECT_EQ(store_.run(run)->rounds_done, 2);
  EXPECT_EQ(store_.run(run)->seconds, 1.875 + 3.875);
  EXPECT_EQ(query("SELECT count(*) FROM recalls"), 3);
}

TEST_F(StoreTest, ACheckpointStaysUntilTheNextOne) {
  const std::int64_t run = claimed();
  EXPECT_EQ(*store_.checkpoint(run), std::nullopt);
  RoundEntry entry = sample_entry(1);
  entry.checkpoint = std::string("\0binary\0\xff", 9);
  write(run, entry);
  EXPECT_EQ(*store_.checkpoint(run), entry.checkpoint);
  entry = sample_entry(2);
  entry.checkpoint.clear();
  write(run, entry);
  EXPECT_EQ(*store_.checkpoint(run), std::string("\0binary\0\xff", 9));
  write(run, sample_entry(3));
  EXPECT_EQ(*store_.checkpoint(run), "state 3");
  EXPECT_EQ(query("SELECT count(*) FROM checkpoints"), 1);
}

TEST_F(StoreTest, Ends) {
  const std::int64_t run = claimed();
  write(run, sample_entry(1));
  ASSERT_TRUE(store_.fail(run, "the disk burns"));
  EXPECT_EQ(store_.run(run)->status, RunStatus::kFailed);
  EXPECT_EQ(store_.run(run)->error, "the disk burns");
  EXPECT_EQ(*store_.checkpoint(run), "state 1");
  ASSERT_EQ(*store_.claim(run, ClaimMode::kResume), ClaimOutcome::kClaimed);
  EXPECT_EQ(store_.run(run)->error, "");
  ASSERT_TRUE(store_.stop(run));
  EXPECT_EQ(store_.run(run)->status, RunStatus::kStopped);
  EXPECT_EQ(*store_.checkpoint(run), "state 1");
  ASSERT_EQ(*store_.claim(run, ClaimMode::kResume), ClaimOutcome::kClaimed);
  ASSERT_TRUE(store_.finish(run, "boba.db.models/1.safetensors"));
  EXPECT_EQ(store_.run(run)->status, RunStatus::kFinished);
  EXPECT_EQ(store_.run(run)->model_file, "boba.db.models/1.safetensors");
  EXPECT_EQ(store_.run(run)->finished.size(), 20u);
  EXPECT_EQ(*store_.checkpoint(run), std::nullopt);
}

TEST_F(StoreTest, OnlyTheHolderWrites) {
  const auto run = store_.add_run(sample_header());
  for (const auto& refused :
       {store_.write_round(*run, sample_entry(1)), store_.write_clients(*run, sample_clients()),
        store_.finish(*run, ""), store_.stop(*run), store_.fail(*run, "x"),
        store_.write_round(77, sample_entry(1))}) {
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("is not held by this process"), std::string::npos)
        << refused.error().message;
  }
  const std::int64_t held = claimed(sample_header("krum"));
  ASSERT_TRUE(store_.finish(held, ""));
  EXPECT_FALSE(store_.write_round(held, sample_entry(1)));
  EXPECT_TRUE(store_.rounds(held)->empty());
  EXPECT_EQ(query("SELECT count(*) FROM rounds"), 0);
}

TEST_F(StoreTest, RefusesRoundZero) {
  const std::int64_t run = claimed();
  const auto refused = store_.write_round(run, sample_entry(0));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("count from 1"), std::string::npos);
}

TEST_F(StoreTest, AnUnknownRunSaysWhichThereAre) {
  EXPECT_NE(store_.run(9).error().message.find("there is no run 9; it has none yet"),
            std::string::npos);
  const auto first = store_.add_run(sample_header());
  ASSERT_TRUE(first);
  EXPECT_NE(store_.run(9).error().message.find("its only run is 1"), std::string::npos);
  ASSERT_TRUE(store_.add_run(sample_header("krum")));
  const auto unknown = store_.run(9);
  EXPECT_NE(unknown.error().message.find("its 2 runs are 1 to 2"), std::string::npos)
      << unknown.error().message;
  EXPECT_FALSE(store_.claim(9, ClaimMode::kNew));
}

TEST_F(StoreTest, ModelsLieBesideTheDatabase) {
  EXPECT_EQ(store_.models_folder(), folder_.path() / "boba.db.models");
  // Names that differ in their ending only must not share the folder.
  const auto other = Store::open(folder_.path() / "boba.sqlite", OpenMode::kCreate);
  EXPECT_NE(other->models_folder(), store_.models_folder());
  EXPECT_EQ(store_.file(), folder_.path() / "boba.db");
}

TEST_F(StoreTest, IsWrittenAheadAndKeepsForeignKeys) {
  const std::int64_t run = claimed();
  write(run, sample_entry(1, {1, 1, 1}));
  auto database = store::Database::open(folder_.path() / "boba.db", store::Access::kReadWrite);
  ASSERT_TRUE(database);
  std::string mode;
  ASSERT_TRUE(database->each("PRAGMA journal_mode", {}, [&](store::Row& row) {
    mode = row.text();
    return Result<void>();
  }));
  EXPECT_EQ(mode, "wal");
  ASSERT_TRUE(database->script("PRAGMA foreign_keys = ON; DELETE FROM runs"));
  EXPECT_EQ(query("SELECT count(*) FROM rounds"), 0);
  EXPECT_EQ(query("SELECT count(*) FROM checkpoints"), 0);
}

}  // namespace
}  // namespace boba::test
