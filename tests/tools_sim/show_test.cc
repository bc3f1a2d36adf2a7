// boba show against a database that the test filled.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/store/store.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using Json = nlohmann::json;

class ShowCommand : public ::testing::Test {
 protected:
  ShowCommand() : store_(std::move(*Store::open(folder_ / "boba.db", OpenMode::kCreate))) {}

  Finished show(std::vector<std::string> more) {
    more.insert(more.begin(), "show");
    return run_boba(more, {.folder = folder_.path()});
  }
  // A run of 50 rounds with an evaluation every ten.
  std::int64_t long_run() {
    const auto run = store_.add_run(sample_header());
    EXPECT_EQ(*store_.claim(*run, ClaimMode::kNew), ClaimOutcome::kClaimed);
    EXPECT_TRUE(store_.write_clients(*run, sample_clients()));
    for (int round = 1; round <= 50; ++round) {
      RoundEntry entry = sample_entry(
          round, round % 10 == 0 ? std::vector{0.5, 0.25, 0.75} : std::vector<double>());
      if (round == 7) entry.round.note = "only 2 clients came";
      EXPECT_TRUE(store_.write_round(*run, entry));
    }
    return *run;
  }

  TemporaryFolder folder_;
  Store store_;
};

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

TEST_F(ShowCommand, TellsWhoRunsARun) {
  const std::int64_t run = long_run();
  expect_in(show({"1"}).out, "\nheld by ");
  expect_in(show({"1"}).out, ", process ");
  EXPECT_TRUE(Json::parse(show({"1", "--json"}).out)["owner"].is_string());
  ASSERT_TRUE(store_.finish(run, ""));
  EXPECT_EQ(show({"1"}).out.find("held by"), std::string::npos);
}

// A class without test examples.
TEST_F(ShowCommand, PrintsNoRecallThatIsNone) {
  add_finished_run(store_, sample_header(), {0.5, std::nan(""), 0.75});
  const Finished finished = show({"1"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out.find("nan"), std::string::npos) << finished.out;
  expect_in(finished.out, "  dog         -");
  EXPECT_TRUE(Json::parse(show({"1", "--json"}).out)["evaluations"][0]["recall"][1].is_null());
}

TEST_F(ShowCommand, ShowsEverything) {
  const std::int64_t run = long_run();
  ASSERT_TRUE(store_.finish(run, "boba.db.models/1.safetensors"));
  add_finished_run(store_, sample_header("average", "none"), {0.5, 0.75, 0.5});
  const Finished finished = show({"1"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::string& text = finished.out;
  expect_in(text, "run 1: boba(f=2) on synthetic, attack ipm, seed 1\n");
  expect_in(text, "finished after 50 of 20 rounds, accuracy 50.00 %, mrd 50.00 points, 93.8 s\n");
  expect_in(text, "  data.set = synthetic\n");
  expect_in(text, "  experiment sample, 1234 parameters, boba 0.1.0\n");
  expect_in(text, "  model boba.db.models/1.safetensors\n");
  expect_in(text, "  client  kind       cat  dog  owl  all  corruption\n");
  expect_in(text, "       1  honest       .    6    6   12  fog\n");
  expect_in(text, "       4  Byzantine    .    .    .    0\n");
  expect_in(text, "     50     50.00   0.7\n");
  expect_in(text, "  truth  recall  cat  dog  owl\n");
  expect_in(text, "  dog     25.00    2    7    1\n");
  // Fifty rounds in stretches of three; of rounds 1 to 3 one rejects an honest client.
  expect_in(text, "\nRounds, means\n");
  expect_in(text, "  1-3        3.667              0         0.3333          0.1       0.3333");
  expect_in(text, "  49-50        3.5              0            0.5");
  expect_in(text, "  round 7: only 2 clients came\n");
  expect_in(text, "  aggregation   25.000  0.500000\n");
}

TEST_F(ShowCommand, ShowsEverythingAsJson) {
  const std::int64_t run = long_run();
  ASSERT_TRUE(store_.fail(run, "the disk \"burns\""));
  const Finished finished = show({"1", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << finished.out;
  EXPECT_EQ(json["run"], 1);
  EXPECT_EQ(json["status"], "failed");
  EXPECT_EQ(json["error"], "the disk \"burns\"");
  EXPECT_EQ(json["settings"]["rule"], "boba(f=2)");
  EXPECT_EQ(json["settings"]["data.set"], "synthetic");
  EXPECT_EQ(json["mrd"], nullptr);
  EXPECT_EQ(json["accuracy"], 0.5);
  EXPECT_EQ(json["classes"], (std::vector<std::string>{"cat", "dog", "owl"}));
  ASSERT_EQ(json["clients"].size(), 5u);
  EXPECT_EQ(json["clients"][1]["corruption"], "fog");
  ASSERT_EQ(json["per_round"].size(), 50u);
  EXPECT_EQ(json["per_round"][1]["rejected"], (std::vector<int>{0, 4}));
  EXPECT_EQ(json["per_round"][0]["update_norm"], 1.0 / 3);
  EXPECT_EQ(json["evaluations"].size(), 5u);
  EXPECT_EQ(json["estimate"]["round"], 50);
  EXPECT_EQ(json["estimate"]["shares"][1][1], 0.5);
}

TEST_F(ShowCommand, ARunThatFailedSaysWhy) {
  const std::int64_t run = long_run();
  ASSERT_TRUE(store_.fail(run, "cannot write\nthe model"));
  const Finished finished = show({"1"});
  expect_in(finished.out, "failed after 50 of 20 rounds");
  expect_in(finished.out, "error: cannot write\\nthe model\n");
}

TEST_F(ShowCommand, ARunThatNeverStartedHasLittleToShow) {
  ASSERT_TRUE(store_.add_run(sample_header()));
  const Finished finished = show({"1"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  expect_in(finished.out, "waiting after 0 of 20 rounds, accuracy - %, mrd - points, 0.0 s\n");
  EXPECT_EQ(finished.out.find("Rounds"), std::string::npos);
  EXPECT_EQ(show({"1", "--json"}).status, 0);
}

TEST_F(ShowCommand, OddRecordsDoNotCrash) {
  RunHeader header = sample_header();
  header.classes = {"one"};
  const auto run = store_.add_run(header);
  ASSERT_EQ(*store_.claim(*run, ClaimMode::kNew), ClaimOutcome::kClaimed);
  std::vector<ClientRecord> clients = sample_clients();
  clients[1].labels = {1};
  clients[2].labels = {};
  ASSERT_TRUE(store_.write_clients(*run, clients));
  RoundEntry entry = sample_entry(1, {0.5, 0.5, 0.5, 0.5});
  entry.evaluation->confusion = {1, 2, 3};
  entry.round.rejected = {0, 1, 2, 3, 4, 5, 6};
  entry.estimate->shares = {{}};
  ASSERT_TRUE(store_.write_round(*run, entry));
  const Finished finished = show({"1"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  expect_in(finished.out, "class 3");
  EXPECT_EQ(show({"1", "--json"}).status, 0);
}

TEST_F(ShowCommand, Refuses) {
  long_run();
  const Finished unknown = show({"9"});
  EXPECT_EQ(unknown.status, 1);
  expect_in(unknown.err, "boba show: cannot read run 9: boba.db: there is no run 9; its only run");
  EXPECT_EQ(show({"one"}).status, 2);
  EXPECT_EQ(show({"0"}).status, 2);
  EXPECT_EQ(show({}).status, 2);
  const Finished missing = show({"1", "--db", "none.db"});
  EXPECT_EQ(missing.status, 1);
  expect_in(missing.err, "'boba run' makes one");
}

}  // namespace
}  // namespace boba::test
