// The list of runs: accuracy, the largest drop of recall, and conditions.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "simulator/store/store.h"
#include "simulator/store/where.h"
#include "tests/support/doc_blocks.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

class Results : public ::testing::Test {
 protected:
  Results() : store_(std::move(*Store::open(folder_.path() / "boba.db", OpenMode::kCreate))) {}

  std::vector<std::int64_t> where(const std::string& conditions) {
    const auto runs = store_.runs(conditions);
    EXPECT_TRUE(runs) << runs.error().message;
    std::vector<std::int64_t> ids;
    if (!runs) return {-1};
    for (const RunRecord& run : *runs) ids.push_back(run.id);
    return ids;
  }
  std::string refusal(const std::string& conditions) {
    const auto runs = store_.runs(conditions);
    return runs ? "accepted" : runs.error().message;
  }

  TemporaryFolder folder_;
  Store store_;
};

using Ids = std::vector<std::int64_t>;

TEST_F(Results, MrdIsTheLargestDropAgainstTheBaseline) {
  const auto boba = add_finished_run(store_, sample_header("boba(f=2)", "ipm"), {0.75, 0.25, 1});
  EXPECT_EQ(store_.run(boba)->mrd, std::nullopt) << "there is no baseline yet";
  const auto base = add_finished_run(store_, sample_header("average", "none"), {1, 0.75, 0.5});
  EXPECT_EQ(store_.run(boba)->mrd, 0.5);
  EXPECT_EQ(store_.run(base)->mrd, 0);
  const auto better = add_finished_run(store_, sample_header("krum", "none"), {1, 1, 1});
  EXPECT_EQ(store_.run(better)->mrd, 0) << "no class lost anything";
  // Another seed, and other data, have another baseline.
  const auto seeded = add_finished_run(store_, sample_header("krum", "none", 2), {0, 0, 0});
  EXPECT_EQ(store_.run(seeded)->mrd, std::nullopt);
  RunHeader elsewhere = sample_header("krum", "none");
  elsewhere.data = "other";
  EXPECT_EQ(store_.run(add_finished_run(store_, elsewhere, {0, 0, 0}))->mrd, std::nullopt);
}

// A class without test examples has no recall, which is no drop.
TEST_F(Results, MrdPassesOverClassesWithoutExamples) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  add_finished_run(store_, sample_header("average", "none"), {1, none, 0.5});
  const auto run = add_finished_run(store_, sample_header("krum", "ipm"), {0.75, none, 0.5});
  EXPECT_EQ(store_.run(run)->mrd, 0.25);
  const auto lost = add_finished_run(store_, sample_header("zeno", "ipm"), {none, none, none});
  EXPECT_EQ(store_.run(lost)->mrd, std::nullopt);
}

TEST_F(Results, MrdComparesLastEvaluationsOfFinishedBaselines) {
  const auto base = store_.add_run(sample_header("average", "none"));
  ASSERT_EQ(*store_.claim(*base, ClaimMode::kNew), ClaimOutcome::kClaimed);
  ASSERT_TRUE(store_.write_round(*base, sample_entry(1, {1, 1, 1})));
  ASSERT_TRUE(store_.write_round(*base, sample_entry(2, {0.5, 0.5, 0.5})));
  const auto run = store_.add_run(sample_header("krum", "ipm"));
  ASSERT_EQ(*store_.claim(*run, ClaimMode::kNew), ClaimOutcome::kClaimed);
  ASSERT_TRUE(store_.write_round(*run, sample_entry(1, {0, 0, 0})));
  ASSERT_TRUE(store_.write_round(*run, sample_entry(2, {0.25, 0.5, 0.5})));
  EXPECT_EQ(store_.run(*run)->mrd, std::nullopt) << "the baseline has not finished";
  ASSERT_TRUE(store_.finish(*base, ""));
  EXPECT_EQ(store_.run(*run)->mrd, 0.25);
  EXPECT_NEAR(*store_.run(*run)->accuracy, 1.25 / 3, 1e-15);
  // The baseline is run again: until it has finished there is nothing to compare with.
  ASSERT_EQ(*store_.claim(*base, ClaimMode::kRestart), ClaimOutcome::kClaimed);
  EXPECT_EQ(store_.run(*run)->mrd, std::nullopt);
}

TEST_F(Results, ConditionsOnTexts) {
  add_finished_run(store_, sample_header("boba(f=2)", "none"), {1, 1, 1});
  add_finished_run(store_, sample_header("boba(f=2,p_min=-0.1)", "ipm(gamma=10)"), {1, 1, 1});
  add_finished_run(store_, sample_header("boba-es(f=2)", "ipm"), {1, 1, 1});
  add_finished_run(store_, sample_header("bucketing(s=2) | krum(f=2)", "lie"), {1, 1, 1});
  EXPECT_EQ(where(""), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(where("  "), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(where("rule=boba"), (Ids{1, 2}));
  EXPECT_EQ(where("rule!=boba"), (Ids{3, 4}));
  EXPECT_EQ(where("rule=boba(f=2)"), (Ids{1}));
  EXPECT_EQ(where("rule=boba(f=2,p_min=-0.1)"), (Ids{2}));
  EXPECT_EQ(where("rule = boba(f=2,p_min=-0.1) , attack=ipm"), (Ids{2}));
  EXPECT_EQ(where("rule=bucketing"), (Ids{4}));
  EXPECT_EQ(where("rule=bucketing(s=2) | krum(f=2)"), (Ids{4}));
  EXPECT_EQ(where("rule=krum"), (Ids{}));
  EXPECT_EQ(where("rule~KRUM"), (Ids{4}));
  EXPECT_EQ(where("rule!~es,rule~boba"), (Ids{1, 2}));
  EXPECT_EQ(where("attack=ipm"), (Ids{2, 3}));
  EXPECT_EQ(where("model=mlp"), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(where("status=finished,name=sample,algorithm=fedsgd"), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(where("status=failed"), (Ids{}));
  EXPECT_EQ(where("created>2020-01-01,finished<3000"), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(where("rule="), (Ids{}));
}

TEST_F(Results, ConditionsOnNumbers) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const double recall = 0.25 * static_cast<double>(seed);
    add_finished_run(store_, sample_header("average", "none", seed), {recall, recall, recall});
  }
  ASSERT_TRUE(store_.add_run(sample_header("average", "none", (1ULL << 53) + 1)));
  EXPECT_EQ(where("seed=2"), (Ids{2}));
  EXPECT_EQ(where("seed!=2"), (Ids{1, 3, 4}));
  EXPECT_EQ(where("seed<=2"), (Ids{1, 2}));
  EXPECT_EQ(where("seed=9007199254740993"), (Ids{4}));
  EXPECT_EQ(where("seed=9007199254740992"), (Ids{}));
  EXPECT_EQ(where("accuracy>=0.5"), (Ids{2, 3}));
  EXPECT_EQ(where("accuracy>5e-1"), (Ids{3}));
  EXPECT_EQ(where("accuracy<=1"), (Ids{1, 2, 3})) << "a run without the number fits no condition";
  EXPECT_EQ(where("accuracy!=0.5"), (Ids{1, 3}));
  EXPECT_EQ(where("mrd=0,run>1"), (Ids{2, 3}));
  EXPECT_EQ(where("rounds_done<20"), (Ids{4}));
}

TEST_F(Results, ConditionsThatAreNoneAreRefused) {
  EXPECT_NE(refusal("rulle=boba").find("no key 'rulle'; did you mean rule? keys are: run, name,"),
            std::string::npos)
      << refusal("rulle=boba");
  EXPECT_NE(refusal("=3").find("no key ''"), std::string::npos);
  EXPECT_NE(refusal("boba").find("'boba' is no condition"), std::string::npos);
  EXPECT_NE(refusal("rule=a,,seed=1").find("'' is no condition"), std::string::npos);
  EXPECT_NE(refusal("rule!boba").find("is no condition"), std::string::npos);
  const std::string begin = "cannot list the runs: where: ";
  EXPECT_EQ(refusal("seed=one"),
            begin + "'seed=one': seed=one is not a whole number; write seed=3 or seed<=3");
  EXPECT_EQ(refusal("seed ~ 1"), begin +
                                     "seed is a number; use seed=, seed!=, seed<, seed<=, "
                                     "seed> or seed>= instead of ~");
  for (const char* bad : {"seed=", "seed=1 2", "seed=0x1", "seed=1.5", "seed!=two"}) {
    EXPECT_NE(refusal(bad).find(" is not a whole number; write seed=3 or seed<=3"),
              std::string::npos)
        << refusal(bad);
  }
  EXPECT_EQ(refusal("rounds=ten"),
            begin + "'rounds=ten': rounds=ten is not a number; write rounds=3 or rounds<=3");
  for (const char* bad : {"accuracy>nan", "accuracy<inf", "loss<inf", "loss=-nan", "seed=-1",
                          "seed=9223372036854775808", "rounds<-1", "run=1e400"}) {
    EXPECT_NE(refusal(bad).find(" is outside ["), std::string::npos) << refusal(bad);
  }
  // Tables show percent.
  EXPECT_EQ(refusal("accuracy>=90"),
            begin + "'accuracy>=90': accuracy=90 is outside [0, 1]; write 0.9 for 90 %");
  for (const char* bad : {"accuracy<1.01", "mrd>5", "accuracy>x"}) {
    EXPECT_NE(refusal(bad).find("; write 0.9 for 90 %"), std::string::npos) << refusal(bad);
  }
  EXPECT_EQ(refusal("accuracy<=1,mrd<1.0,loss>90,loss>-1,rounds>=1e3,rounds_done>0.5"), "accepted");
  EXPECT_EQ(refusal("rule<a"), begin + "rule is a text; use rule=, rule!= or rule~ instead of <");
  EXPECT_EQ(refusal("status>a").find(begin + "status is a text; use"), 0U);
  EXPECT_EQ(refusal("status!=finish"),
            begin +
                "'status!=finish': status=finish is none of: waiting, running, stopped, "
                "finished, failed; did you mean finished?");
  EXPECT_EQ(refusal("status~fin,status!~run"), "accepted");
}

TEST_F(Results, ConditionsOnTheGpu) {
  add_finished_run(store_, sample_header("average", "none", 1), {1, 1, 1});
  RunHeader header = sample_header("average", "none", 2);
  header.gpu = "cuda, NVIDIA H200";
  add_finished_run(store_, header, {1, 1, 1});
  EXPECT_EQ(where("gpu~h200"), (Ids{2}));
  EXPECT_EQ(where("gpu!~cuda"), (Ids{1}));
}

TEST(ListsInTheDocs, KeysOfConditions) {
  std::string table = "\n| key | type | values | meaning |\n|-----|------|--------|---------|\n";
  for (const OptionInfo& key : store::where_keys()) {
    std::string range = key.range();
    for (std::size_t at = 0; (at = range.find('|', at)) != std::string::npos; at += 2) {
      range.insert(at, "\\");
    }
    table += "| `" + key.name + "` | " + key.type + " |" + (range.empty() ? "" : " " + range) +
             " | " + key.help + " |\n";
  }
  expect_block("docs/results-database.md", "conditions", table);
}

TEST_F(Results, ConditionsAreNoSql) {
  add_finished_run(store_, sample_header("average", "none"), {1, 1, 1});
  EXPECT_EQ(where("rule=' OR 1=1 --"), (Ids{}));
  EXPECT_EQ(where("rule=average' OR '1'='1"), (Ids{}));
  EXPECT_EQ(where("name~%"), (Ids{}));
  EXPECT_NE(refusal("1=1").find("no key '1'"), std::string::npos);
  EXPECT_NE(refusal("rule) OR (1=1").find("no key 'rule) OR (1'"), std::string::npos);
  EXPECT_EQ(where("rule=x); DROP TABLE runs; --"), (Ids{}));
  EXPECT_EQ(where(""), (Ids{1}));
}

}  // namespace
}  // namespace boba::test
