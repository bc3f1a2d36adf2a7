#include "simulator/report/settings.h"

#include <gtest/gtest.h>

#include "simulator/report/report.h"
#include "tests/support/report_markup.h"
#include "tests/support/report_samples.h"

namespace boba::sim::report {
namespace {

using test::run_data;
using test::sample_runs;
using test::SampleGrid;

// A finished run of the given accuracy.
RunData run_of(const std::string& rule, const std::string& attack, double accuracy,
               std::uint64_t seed = 1) {
  RunData run;
  run.record.status = RunStatus::kFinished;
  run.record.header.dataset = "mnist";
  run.record.header.rule = rule;
  run.record.header.attack = attack;
  run.record.header.byzantine = attack == "none" ? 0 : 15;
  run.record.header.seed = seed;
  run.record.accuracy = accuracy;
  return run;
}

TEST(ShortSpec, DropsOptionsOfEveryStage) {
  EXPECT_EQ(short_spec("boba(f=16)"), "boba");
  EXPECT_EQ(short_spec("bucketing(s=2) | krum(f=16)"), "bucketing | krum");
  EXPECT_EQ(short_spec("average"), "average");
  EXPECT_EQ(short_spec("broken(("), "broken");
  EXPECT_EQ(short_spec(")x("), ")x");
}

TEST(SettingsOf, PutsAGridIntoOneSetting) {
  const std::vector<RunData> runs = run_data(sample_runs({}));
  const std::vector<Setting> settings = settings_of(runs);
  ASSERT_EQ(settings.size(), 1U);
  const Setting& setting = settings[0];
  EXPECT_EQ(setting.title, "fashion-mnist · mlp(width=200,depth=2) · fedsgd · pairs");
  ASSERT_EQ(setting.rules.size(), 3U);
  ASSERT_EQ(setting.attacks.size(), 4U);
  EXPECT_EQ(setting.rules[2].label, "boba");
  EXPECT_EQ(setting.attacks[0].spec, "none");
  EXPECT_EQ(setting.attacks[1].label, "ipm");
  EXPECT_EQ(setting.cell(1, 2).accuracy.count, 2U);
  EXPECT_NEAR(setting.cell(1, 2).accuracy.mean,
              (*setting.cell(1, 2).runs[0]->record.accuracy +
               *setting.cell(1, 2).runs[1]->record.accuracy) /
                  2,
              1e-12);
}

TEST(SettingsOf, SeparatesRunsThatMayNotBeCompared) {
  SampleGrid first;
  first.more_config = "federation.participation = 1\nfederation.byzantine_turnout = all\n";
  SampleGrid second = first;
  second.more_config = "federation.participation = 0.5\nfederation.byzantine_turnout = all\n";
  std::vector<RunData> runs = run_data(sample_runs(first));
  for (RunData& run : run_data(sample_runs(second))) runs.push_back(std::move(run));
  const std::vector<Setting> settings = settings_of(runs);
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_TRUE(settings[0].title.ends_with(" · participation 1")) << settings[0].title;
  EXPECT_TRUE(settings[1].title.ends_with(" · participation 0.5")) << settings[1].title;
  EXPECT_EQ(settings[0].rules[2].hue, settings[1].rules[2].hue);
}

// Experiments leave out what does not bear on their numbers: server data of rules that do not look
// at them, the turnout of attackers that are not there.
TEST(SettingsOf, ComparesRulesWithAndWithoutServerData) {
  std::vector<RunData> runs = {run_of("average", "none", 0.9), run_of("average", "ipm", 0.1),
                               run_of("boba", "none", 0.9), run_of("boba", "ipm", 0.8)};
  const std::string with = "server.per_class = 20\nserver.noise = none\n";
  const std::string without = "server.per_class = 0\nserver.noise = none\n";
  const std::string sampled = "federation.byzantine_turnout = sampled\n";
  runs[0].record.header.config = without;
  runs[1].record.header.config = sampled + without;
  runs[2].record.header.config = with;
  runs[3].record.header.config = sampled + with;
  const std::vector<Setting> settings = settings_of(runs);
  ASSERT_EQ(settings.size(), 1U);
  EXPECT_EQ(settings[0].runs.size(), 4U);
  ASSERT_EQ(settings[0].config.size(), 3U);
  EXPECT_EQ(settings[0].config[1].second, "20");
}

TEST(SettingsOf, SeparatesServersAndSharesTheRunsWithoutOne) {
  std::vector<RunData> runs = {run_of("average", "ipm", 0.1), run_of("boba", "ipm", 0.8),
                               run_of("boba", "ipm", 0.9), run_of("fltrust", "ipm", 0.7)};
  runs[0].record.header.config = "server.per_class = 0\n";
  runs[1].record.header.config = "server.per_class = 20\n";
  runs[2].record.header.config = "server.per_class = 50\n";
  runs[3].record.header.config = "server.counts = 9,1\n";
  const std::vector<Setting> settings = settings_of(runs);
  ASSERT_EQ(settings.size(), 3U);
  for (const Setting& setting : settings) {
    ASSERT_EQ(setting.runs.size(), 2U);
    EXPECT_EQ(setting.runs[0], &runs[0]);
  }
  EXPECT_TRUE(settings[1].title.ends_with("per_class 50")) << settings[1].title;
  EXPECT_TRUE(settings[2].title.ends_with("counts 9,1")) << settings[2].title;
  const std::string html = page("t", runs);
  EXPECT_EQ(test::table_rows(html, "sortable runs").size(), 4U) << "a run is listed once";
  EXPECT_EQ(test::table_rows(html, "sortable runs")[0][1], "1, 2, 3");
}

TEST(SettingsOf, SeparatesDataOfTheSameName) {
  std::vector<RunData> runs = {run_of("average", "none", 0.9), run_of("average", "none", 0.8)};
  runs[1].record.header.data = "another checksum";
  const std::vector<Setting> settings = settings_of(runs);
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_NE(settings[0].title, settings[1].title);
}

TEST(SettingsOf, NamesWhatShortNamesWouldConfuse) {
  std::vector<RunData> runs = {run_of("krum(f=1)", "ipm", 0.5), run_of("krum(f=2)", "ipm", 0.5),
                               run_of("krum(f=1)", "ipm", 0.5)};
  runs[2].record.header.byzantine = 30;
  const std::vector<Setting> settings = settings_of(runs);
  ASSERT_EQ(settings.size(), 1U);
  EXPECT_EQ(settings[0].rules[0].label, "krum(f=1)");
  EXPECT_EQ(settings[0].rules[1].label, "krum(f=2)");
  ASSERT_EQ(settings[0].attacks.size(), 2U);
  EXPECT_EQ(settings[0].attacks[0].label, "ipm b=15");
  EXPECT_EQ(settings[0].attacks[1].label, "ipm b=30");
}

TEST(SettingsOf, DoesNotMixUnfinishedRunsIntoMeans) {
  std::vector<RunData> runs = {run_of("boba", "ipm", 0.9, 1), run_of("boba", "ipm", 0.1, 2),
                               run_of("mkrum", "ipm", 0.4, 1), run_of("mkrum", "ipm", 0.2, 2),
                               run_of("krum", "ipm", 0, 1)};
  runs[1].record.status = RunStatus::kRunning;
  runs[2].record.status = RunStatus::kStopped;
  runs[2].record.rounds_done = 50;
  runs[3].record.status = RunStatus::kStopped;
  runs[3].record.rounds_done = 10;
  runs[4].record.status = RunStatus::kFailed;
  runs[4].record.accuracy.reset();
  const std::vector<Setting> settings = settings_of(runs);
  const Setting& setting = settings.at(0);
  EXPECT_EQ(setting.cell(0, 0).accuracy.mean, 0.9);
  EXPECT_FALSE(setting.cell(0, 0).partial);
  EXPECT_EQ(setting.cell(1, 0).accuracy.mean, 0.4) << "the one that came furthest";
  EXPECT_TRUE(setting.cell(1, 0).partial);
  EXPECT_EQ(setting.cell(2, 0).accuracy.count, 0U);
  EXPECT_EQ(setting.cell(2, 0).failed, 1U);
}

TEST(WorstCases, AreOverAttacksAndBestFirst) {
  const std::vector<RunData> runs = {run_of("average", "none", 0.05), run_of("average", "ipm", 0.1),
                                     run_of("average", "lie", 0.8),   run_of("boba", "ipm", 0.9),
                                     run_of("boba", "lie", 0.7),      run_of("krum", "lie", 0.95)};
  const std::vector<Setting> settings = settings_of(runs);
  const std::vector<Worst> cases = settings.at(0).worst_cases();
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].rule, 1U);
  EXPECT_EQ(cases[0].accuracy.mean, 0.7);
  EXPECT_EQ(cases[1].accuracy.mean, 0.1) << "the run without attack is not a worst case";
  EXPECT_EQ(cases[2].rule, 2U) << "one attack of two proves less";
}

TEST(Conclusion, SaysWhatCameOut) {
  const std::vector<RunData> runs = {
      run_of("average", "none", 0.925), run_of("average", "ipm", 0.1),
      run_of("boba(f=16)", "none", 0.92), run_of("boba(f=16)", "ipm", 0.914)};
  EXPECT_EQ(
      conclusion(settings_of(runs).at(0)),
      "boba holds up best: over the one attack its lowest accuracy is 91.4 % (under ipm); next "
      "is average with 10.0 % (under ipm). Without attack boba reaches 92.0 %.");
  EXPECT_EQ(conclusion(settings_of(std::span(runs).first(1)).at(0)), "");
}

// Half-way through a grid the rules that have met fewer attacks must not look better for it.
TEST(Conclusion, ComparesOnlyRulesThatMetAllAttacks) {
  std::vector<RunData> runs = {run_of("average", "ipm", 0.1), run_of("average", "lie", 0.8),
                               run_of("boba", "ipm", 0.9),    run_of("boba", "lie", 0.7),
                               run_of("krum", "lie", 0.95),   run_of("zeno", "lie", 0.99),
                               run_of("zeno", "ipm", 0.99)};
  runs[6].record.status = RunStatus::kRunning;  // a starred cell
  runs[6].record.rounds_done = 3;
  EXPECT_EQ(conclusion(settings_of(runs).at(0)),
            "boba holds up best: over 2 attacks its lowest accuracy is 70.0 % (under lie); next is "
            "average with 10.0 % (under ipm). Not compared, since not finished under all attacks: "
            "krum and zeno.");
  EXPECT_FALSE(settings_of(runs).at(0).worst_cases()[2].complete);
}

TEST(Conclusion, OfAGridWithoutACompleteRuleSaysSo) {
  std::vector<RunData> runs = {run_of("average", "ipm", 0.1), run_of("average", "none", 0.9),
                               run_of("boba", "lie", 0.7)};
  EXPECT_EQ(conclusion(settings_of(runs).at(0)),
            "The grid is not complete yet: no rule has finished under all attacks.");
  runs.push_back(run_of("average", "lie", 0.8));
  runs[1].record.status = RunStatus::kStopped;
  EXPECT_EQ(conclusion(settings_of(runs).at(0)),
            "Over 2 attacks, the lowest accuracy of average is 10.0 % (under ipm). Not compared, "
            "since not finished under all attacks: boba.");
}

}  // namespace
}  // namespace boba::sim::report
