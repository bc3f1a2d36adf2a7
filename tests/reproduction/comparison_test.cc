// Published against ours: differences, marks, worst cases, goals.

#include "reproduction/comparison.h"

#include <gtest/gtest.h>

#include "reproduction/goals.h"
#include "reproduction/results.h"
#include "tests/reproduction/runs.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using reproduction::compare;
using reproduction::Comparison;
using reproduction::GoalState;
using reproduction::PaperRun;

double published_of(const std::string& file, const PaperRun& run) {
  const auto values = reproduction::published_values(reproduction::load_paper(file)->published);
  for (const reproduction::Published& each : *values) {
    if (each.dataset == run.dataset && each.rule == run.rule && each.attack == run.attack &&
        (each.setting.empty() || each.setting == run.setting) && each.metric == "accuracy") {
      return each.mean / 100;
    }
  }
  return 0;
}

class PaperComparison : public ::testing::Test {
 protected:
  PaperComparison() : store_(std::move(*Store::open(folder_ / "p.db", OpenMode::kCreate))) {}

  // Runs of a grid with the paper's own accuracy, moved by so much.
  void fill(const std::string& name, const std::string& grid,
            const std::function<double(const PaperRun&)>& moved) {
    reproduction::PaperOptions options;
    options.grids = {grid};
    add_runs(store_, runs_of(name, options), [&](const PaperRun& run) {
      const double accuracy = published_of(name, run) + moved(run) / 100;
      return std::vector<double>(3, accuracy);
    });
  }

  std::vector<Comparison> compared(const std::string& name, bool quick = false,
                                   const std::vector<reproduction::Explanation>& texts = {}) {
    const auto file = reproduction::load_paper(name);
    const auto index = reproduction::RunIndex::read(store_);
    auto results = reproduction::collect(*file, {}, *index, &store_);
    EXPECT_TRUE(results) << results.error().message;
    return compare(*results, *reproduction::published_values(file->published), texts, quick);
  }

  std::vector<reproduction::Goal> goals_now() {
    return reproduction::goals(*reproduction::targets(),
                               {{"unbiasedness", compared("unbiasedness")},
                                {"robustness", compared("robustness")},
                                {"precision", compared("precision")}});
  }

  TemporaryFolder folder_;
  Store store_;
};

// Table 7 has no setting of its own; we run it with two.
TEST_F(PaperComparison, WhatHasNoSettingStandsBesideEverySetting) {
  fill("dirichlet", "mnist",
       [](const PaperRun& run) { return run.setting == "0.5" ? 0.0 : -20.0; });
  std::size_t agree = 0;
  std::size_t differ = 0;
  for (const Comparison& each : compared("dirichlet")) {
    if (each.dataset != "mnist" || each.metric != "accuracy") continue;
    ASSERT_TRUE(each.published) << each.setting << " " << each.rule << " " << each.attack;
    EXPECT_EQ(each.flag(), each.setting == "0.5" ? "agrees" : "differs")
        << each.setting << " " << each.rule << " " << each.attack;
    (each.setting == "0.5" ? agree : differ) += 1;
  }
  EXPECT_EQ(agree, 4U * 8);  // no attack, six attacks, the worst of them
  EXPECT_EQ(differ, 4U * 8);
}

TEST_F(PaperComparison, MarksWhatIsTooFarAndNothingElse) {
  fill("robustness", "mnist", [](const PaperRun& run) {
    if (run.rule == "boba" && run.attack == "ipm") return -1.2;  // the paper's sd is below 0.5
    if (run.rule == "boba" && run.attack == "lie") return 0.9;
    return 0.0;
  });
  const auto all = compared("robustness");
  std::size_t differ = 0;
  std::size_t not_run = 0;
  for (const Comparison& each : all) {
    differ += each.flag() == "differs" ? 1 : 0;
    not_run += each.flag() == "not run" ? 1 : 0;
    if (each.dataset != "mnist") {
      EXPECT_EQ(each.flag(), "not run");
    }
  }
  EXPECT_EQ(not_run, 15U * 7 * 2);
  const Comparison* cell = find(all, "mnist", "", "boba", "ipm", "accuracy");
  ASSERT_NE(cell, nullptr);
  EXPECT_TRUE(cell->differs);
  EXPECT_EQ(cell->seeds, 5U);
  EXPECT_NEAR(*cell->difference(), -1.2, 1e-9);
  EXPECT_NEAR(*cell->ours_sd, 0, 1e-9);
  const Comparison* near = find(all, "mnist", "", "boba", "lie", "accuracy");
  EXPECT_FALSE(near->differs);
  EXPECT_EQ(near->flag(), "agrees");
  // boba's worst moved with ipm, if that is its worst.
  EXPECT_LE(differ, 2U);
}

TEST_F(PaperComparison, TheWorstIsComputedFromTheColumns) {
  fill("robustness", "mnist", [](const PaperRun&) { return 0.0; });
  const auto all = compared("robustness");
  const Comparison* selfrej = find(all, "mnist", "", "selfrej", "worst", "accuracy");
  ASSERT_NE(selfrej, nullptr);
  EXPECT_EQ(*selfrej->published, 71.1);
  EXPECT_EQ(*selfrej->printed_worst, 71.5);
  EXPECT_NEAR(*selfrej->ours, 71.1, 1e-9);
  const Comparison* boba = find(all, "mnist", "", "boba", "worst", "accuracy");
  EXPECT_FALSE(boba->printed_worst);
  EXPECT_EQ(boba->flag(), "agrees");
}

TEST_F(PaperComparison, AMissingAttackLeavesNoWorst) {
  reproduction::PaperOptions options;
  options.grids = {"mnist"};
  std::vector<PaperRun> runs = runs_of("robustness", options);
  std::erase_if(runs, [](const PaperRun& run) { return run.attack == "minsum"; });
  add_runs(store_, runs, [](const PaperRun&) { return std::vector<double>(3, 0.9); });
  const auto all = compared("robustness");
  EXPECT_EQ(find(all, "mnist", "", "boba", "worst", "accuracy")->flag(), "not run");
  EXPECT_EQ(find(all, "mnist", "", "boba", "minsum", "accuracy")->flag(), "not run");
}

TEST_F(PaperComparison, ExplanationsFitByTheirFields) {
  fill("robustness", "mnist", [](const PaperRun& run) { return run.rule == "krum" ? 60.0 : 0.0; });
  const std::vector<reproduction::Explanation> texts = {
      {"robustness", "cifar10", "", "krum", "", "", "other data"},
      {"robustness", "*", "", "krum|mkrum", "ipm|mimic", "", "krum varies"},
      {"", "mnist", "", "", "", "", "anything"}};
  const auto all = compared("robustness", false, texts);
  EXPECT_EQ(find(all, "mnist", "", "krum", "ipm", "accuracy")->explanation, "krum varies");
  EXPECT_EQ(find(all, "mnist", "", "krum", "mimic", "accuracy")->explanation, "krum varies");
  EXPECT_EQ(find(all, "mnist", "", "krum", "lie", "accuracy")->explanation, "anything");
  EXPECT_EQ(find(all, "mnist", "", "boba", "lie", "accuracy")->explanation, "");
}

TEST_F(PaperComparison, SmallVersionsAreNotCompared) {
  fill("robustness", "mnist", [](const PaperRun&) { return 5.0; });
  for (const Comparison& each : compared("robustness", true)) {
    EXPECT_FALSE(each.published);
    EXPECT_FALSE(each.differs);
  }
}

TEST_F(PaperComparison, DataOfAnotherSizeAreLeftOut) {
  reproduction::PaperOptions options;
  options.grids = {"mnist"};
  const std::vector<PaperRun> runs = runs_of("unbiasedness", options);
  add_runs(store_, runs, [](const PaperRun&) { return std::vector<double>(3, 0.9); });
  add_finished_run(store_, header_of_run(runs[0].experiment, "other"), {0.1, 0.1, 0.1});
  const auto file = reproduction::load_paper("unbiasedness");
  const auto index = reproduction::RunIndex::read(store_);
  const auto results = reproduction::collect(*file, {}, *index, &store_);
  ASSERT_TRUE(results);
  EXPECT_EQ(results->facts.at("mnist").other_data, 1U);
  EXPECT_EQ(results->finished, runs.size());
  EXPECT_EQ(results->facts.at("mnist").train, 48U);  // of the sample clients
  EXPECT_EQ(results->facts.at("mnist").test, 30U);
  const auto all = compared("unbiasedness");
  EXPECT_NEAR(*find(all, "mnist", "", "average", "none", "accuracy")->ours, 90, 1e-9);
}

TEST_F(PaperComparison, TheCsvHasALineForEachCell) {
  fill("robustness", "mnist", [](const PaperRun&) { return 0.0; });
  const auto all = compared("robustness");
  const std::string csv = to_csv(all);
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), all.size() + 1);
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "experiment,dataset,rule,attack,setting,metric,published,published_sd,ours,ours_sd,"
            "seeds,difference,flag,by_seed");
  EXPECT_NE(csv.find("robustness,mnist,boba,ipm,,accuracy,"), std::string::npos);
  EXPECT_NE(csv.find(",agrees,1:"), std::string::npos);
  EXPECT_NE(csv.find(",not run,\n"), std::string::npos);
}

TEST_F(PaperComparison, GoalsAreMetByThePapersOwnNumbers) {
  const auto exact = [](const PaperRun&) { return 0.0; };
  for (const reproduction::Goal& goal : reproduction::goals(*reproduction::targets(), {})) {
    EXPECT_EQ(goal.state, GoalState::kNotRun) << goal.words;
  }
  for (const char* grid : {"mnist", "ag-news", "cifar10"}) {
    fill("unbiasedness", grid, exact);
    fill("robustness", grid, exact);
  }
  for (const char* grid : {"average", "boba"}) fill("precision", grid, exact);
  for (const reproduction::Goal& goal : goals_now()) {
    EXPECT_EQ(goal.state, GoalState::kMet) << goal.words << ": " << goal.found;
  }
}

TEST_F(PaperComparison, GoalsThatAreMissedSayBy) {
  fill("unbiasedness", "mnist", [](const PaperRun&) { return 0.0; });
  fill("robustness", "mnist", [](const PaperRun& run) {
    return run.rule == "boba" && run.attack == "mimic" ? -3.0 : 0.0;
  });
  const auto goals = goals_now();
  ASSERT_EQ(goals.size(), 9U);
  EXPECT_EQ(goals[0].state, GoalState::kNotMet);
  EXPECT_NE(goals[0].found.find("boba under mimic: -3.0"), std::string::npos) << goals[0].found;
  EXPECT_EQ(goals[1].state, GoalState::kNotRun);
  EXPECT_EQ(goals[2].state, GoalState::kNotMet) << goals[2].found;
  EXPECT_EQ(goals[3].state, GoalState::kNotRun);
  EXPECT_EQ(goals[4].state, GoalState::kNotRun);
  EXPECT_EQ(goals[6].state, GoalState::kMet);
  EXPECT_EQ(goals[8].state, GoalState::kNotRun);
}

TEST(Targets, MistakesNameTheLine) {
  const std::string head = "check,experiments,subject,dataset,rules,value,within\n";
  const auto good = reproduction::parse_targets(head + "no attack,a|b,M,mnist,boba,71.70,1\n", "x");
  ASSERT_TRUE(good) << good.error().message;
  ASSERT_EQ(good->size(), 1U);
  EXPECT_EQ((*good)[0].experiments, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ((*good)[0].value.number, 71.7);
  EXPECT_EQ((*good)[0].value.text, "71.70");
  const auto fault = [&](const std::string& line) {
    const auto bad =
        reproduction::parse_targets(head + "each attack,a,M,mnist,boba,1,\n" + line, "x.csv");
    return bad ? "" : bad.error().message;
  };
  EXPECT_EQ(
      fault("best,a,M,mnist,boba,1,\n"),
      "x.csv:3: there is no check 'best'; those are: agrees, worst case, first by worst case, "
      "median MRD, no attack, each attack");
  EXPECT_EQ(fault("worst case,a,M,mnist,boba,high,\n"), "x.csv:3: 'high' is not allowed in value");
  EXPECT_EQ(fault("worst case,a,M,mnist,boba,,\n"), "x.csv:3: '' is not allowed in value");
  EXPECT_EQ(fault("worst case,a,M,mnist,boba,1,1\n"), "x.csv:3: '1' is not allowed in within");
  EXPECT_EQ(fault("worst case,a,M,mnist,boba|krum,1,\n"),
            "x.csv:3: 'worst case' takes one rule, not 'boba|krum'");
  EXPECT_EQ(fault("agrees,a,M,mnist,,,1\n"), "x.csv:3: 'agrees' takes rules, not ''");
  EXPECT_EQ(fault("worst case,,M,mnist,boba,1,\n"), "x.csv:3: there is no experiment");
  EXPECT_EQ(fault("worst case\n"), "x.csv:3: 1 cells; there are 7 columns");
}

// What float32 reaches does not stand for what the tables do, nor the other way round.
TEST_F(PaperComparison, GoalsInFloat32AreOfTheirOwnRuns) {
  const auto ipm_is = [](double moved) {
    return [=](const PaperRun& run) { return run.attack == "ipm" ? moved : 0.0; };
  };
  fill("precision", "boba", ipm_is(-0.5));
  EXPECT_EQ(goals_now()[0].state, GoalState::kNotRun);
  EXPECT_EQ(goals_now()[1].state, GoalState::kMet);
  EXPECT_EQ(goals_now()[3].state, GoalState::kMet);
  fill("robustness", "mnist", ipm_is(-2.0));
  EXPECT_EQ(goals_now()[0].state, GoalState::kNotMet);
  EXPECT_EQ(goals_now()[1].state, GoalState::kMet);
  EXPECT_EQ(goals_now()[2].state, GoalState::kNotMet);
  EXPECT_EQ(goals_now()[3].state, GoalState::kMet);
}

TEST_F(PaperComparison, GoalsInFloat32MayBeMissed) {
  fill("precision", "boba", [](const PaperRun& run) { return run.attack == "ipm" ? -0.8 : 0.0; });
  EXPECT_EQ(goals_now()[1].state, GoalState::kNotMet);
  EXPECT_NE(goals_now()[1].found.find("boba under ipm: -0.8"), std::string::npos);
  EXPECT_EQ(goals_now()[3].state, GoalState::kNotMet);
  EXPECT_EQ(goals_now()[3].found, "it is 90.8");
}

}  // namespace
}  // namespace boba::test
