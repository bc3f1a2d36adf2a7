// Numbers of an earlier report: they outlive their database, and give way to it.

#include "reproduction/earlier.h"

#include <gtest/gtest.h>

#include "reproduction/comparison.h"
#include "reproduction/goals.h"
#include "reproduction/paper_report.h"
#include "tests/reproduction/runs.h"
#include "tests/support/report_markup.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using reproduction::Comparison;
using reproduction::EarlierReport;
using reproduction::PaperFile;
using reproduction::PaperOptions;
using reproduction::PaperReport;
using reproduction::PaperRun;
using reproduction::parse_earlier;

const std::string kNumbersHead =
    "experiment,dataset,rule,attack,setting,metric,published,published_sd,ours,ours_sd,seeds,"
    "difference,flag,by_seed\n";
const std::string kPointsHead = "experiment,measurement,seed,series,x,y\n";
const std::string kFactsHead = "experiment,dataset,train,test,rounds,honest,byzantine,version\n";

EarlierReport report_of(const std::string& numbers, const std::string& points = "",
                        const std::string& facts = "") {
  auto report = parse_earlier(kNumbersHead + numbers, kPointsHead + points, kFactsHead + facts);
  if (!report) throw std::runtime_error(report.error().message);
  return *std::move(report);
}

class PaperEarlier : public ::testing::Test {
 protected:
  PaperEarlier() : store_(std::move(*Store::open(folder_ / "p.db", OpenMode::kCreate))) {}

  // Seeds of Table 12's cell of boba under IPM with alpha = 4, all with this accuracy.
  void add_seeds(std::uint64_t first, std::uint64_t last, double accuracy) {
    for (const PaperRun& run : runs_of("step")) {
      const std::uint64_t seed = run.experiment.seed;
      if (run.rule != "boba" || run.attack != "ipm" || run.setting != "4") continue;
      if (seed < first || seed > last) continue;
      add_finished_run(store_, header_of_run(run.experiment), std::vector<double>(3, accuracy));
    }
  }

  // That cell with what an earlier report knew.
  Comparison cell(const EarlierReport& earlier, const PaperOptions& options = {}) {
    const auto file = reproduction::load_paper("step");
    const auto index = reproduction::RunIndex::read(store_);
    auto results = reproduction::collect(*file, options, *index, &store_);
    EXPECT_TRUE(results) << results.error().message;
    add_earlier(earlier, *results);
    finished_ = results->finished;
    const std::vector<Comparison> all = compare(*results, {}, {}, false);
    const Comparison* found = find(all, "mnist", "4", "boba", "ipm", "accuracy");
    if (found == nullptr) throw std::runtime_error("no such cell");
    return *found;
  }

  TemporaryFolder folder_;
  Store store_;
  std::size_t finished_ = 0;
};

TEST_F(PaperEarlier, SeedsThatTheDatabaseLacksAreAdded) {
  add_seeds(2, 2, 0.9);
  const Comparison c = cell(report_of("step,mnist,boba,ipm,4,accuracy,,,85,7.071,2,,,1:80 2:50\n"));
  EXPECT_EQ(c.seeds, 2U);
  EXPECT_EQ(c.by_seed, (std::map<std::uint64_t, double>{{1, 80}, {2, 90}})) << "the run counts";
  EXPECT_NEAR(*c.ours, 85, 1e-9);
  EXPECT_NEAR(*c.ours_sd, 7.0710678, 1e-6);
  EXPECT_EQ(finished_, 2U);
}

TEST_F(PaperEarlier, AMeanOfMoreSeedsStandsUntilThereAreAsMany) {
  const EarlierReport earlier = report_of("step,mnist,boba,ipm,4,accuracy,,,85,0.5,3,,,\n");
  const Comparison alone = cell(earlier);
  EXPECT_EQ(alone.seeds, 3U);
  EXPECT_TRUE(alone.by_seed.empty());
  EXPECT_EQ(*alone.ours, 85);
  EXPECT_EQ(*alone.ours_sd, 0.5);
  EXPECT_EQ(finished_, 3U);
  add_seeds(1, 2, 0.7);
  EXPECT_EQ(*cell(earlier).ours, 85) << "two seeds are fewer than three";
  add_seeds(3, 3, 0.7);
  const Comparison own = cell(earlier);
  EXPECT_NEAR(*own.ours, 70, 1e-9);
  EXPECT_EQ(own.seeds, 3U);
  EXPECT_EQ(finished_, 3U);
}

TEST_F(PaperEarlier, SeedsThatNobodyAsksForStayOut) {
  PaperOptions one;
  one.seeds = 1;
  const Comparison c =
      cell(report_of("step,mnist,boba,ipm,4,accuracy,,,85,5,2,,,1:80 2:90\n"), one);
  EXPECT_EQ(c.seeds, 1U);
  EXPECT_NEAR(*c.ours, 80, 1e-9);
  EXPECT_EQ(cell(report_of("step,mnist,boba,ipm,4,accuracy,,,85,5,2,,,\n"), one).seeds, 0U);
  // Cells of other experiments, and those that nobody knows any more.
  EXPECT_EQ(cell(report_of("pmin,mnist,boba,ipm,4,accuracy,,,85,5,2,,,1:80 2:90\n")).seeds, 0U);
  EXPECT_EQ(cell(report_of("step,mnist,boba,ipm,5,accuracy,,,85,5,2,,,1:80 2:90\n")).seeds, 0U);
}

// A mean of three seeds of which one is known, written and read again.
TEST_F(PaperEarlier, AMeanWithSomeOfItsSeedsIsKept) {
  const EarlierReport earlier = report_of("step,mnist,boba,ipm,4,accuracy,,,85,0.5,3,,,2:85.5\n");
  const Comparison c = cell(earlier);
  EXPECT_EQ(c.seeds, 3U);
  EXPECT_EQ(*c.ours, 85);
  const std::vector<Comparison> one = {c};
  EXPECT_NE(to_csv(one).find("step,mnist,boba,ipm,4,accuracy,,,85,0.5,3,,,2:85.5\n"),
            std::string::npos)
      << to_csv(one);
}

TEST_F(PaperEarlier, NumbersOfOtherDataStayOut) {
  add_seeds(1, 1, 0.9);  // 48 training and 30 test examples
  const std::string number = "step,mnist,boba,ipm,4,accuracy,,,85,5,2,,,2:80 3:90\n";
  const auto with = [&](const std::string& sizes) {
    return cell(report_of(number, "", "step,mnist," + sizes + ",200,100,15,0.1.0\n")).seeds;
  };
  EXPECT_EQ(with("48,30"), 3U);
  EXPECT_EQ(with("60000,30"), 1U);
  EXPECT_EQ(with("48,10000"), 1U);
}

TEST_F(PaperEarlier, MeasurementsAreAddedOneByOne) {
  const auto file = reproduction::load_paper("loss-ratio");
  ASSERT_TRUE(file);
  const std::vector<PaperRun> runs = runs_of("loss-ratio");
  ASSERT_EQ(runs.size(), 7U);
  std::string points;
  for (const PaperRun& run : runs) {
    points +=
        "loss-ratio,\"" + reproduction::measurement_name(run.experiment) + "\",1,ratio,5,1.5\n";
  }
  MeasurementRecord own;
  own.experiment = "loss-ratio";
  own.config = canonical_text(runs[2].experiment);
  own.seed = 1;
  own.points = {{"ratio", 5, 1.25}};
  ASSERT_TRUE(store_.write_measurement(own));
  const EarlierReport earlier = report_of("", points, "loss-ratio,,,,,,,\"cpu, 2 threads\"\n");
  const auto report = make_paper_report({&*file, 1}, {}, &store_, &earlier);
  ASSERT_TRUE(report) << report.error().message;
  const std::string& csv = report->numbers[1].text;
  EXPECT_EQ(count_of(csv, ",ratio,5,1.5\n"), 6U) << csv;
  EXPECT_EQ(count_of(csv, ",ratio,5,1.25\n"), 1U) << csv;
}

TEST_F(PaperEarlier, WhatIsKeptOfAPictureStays) {
  const auto file = reproduction::load_paper("picture");
  ASSERT_TRUE(file);
  const EarlierReport earlier = report_of("", "picture,,2,krum none,0.5,0.25\n");
  const auto report = make_paper_report({&*file, 1}, {}, nullptr, &earlier);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_NE(report->html.find("Not run."), std::string::npos);
  EXPECT_EQ(report->numbers[1].text, kPointsHead + "picture,,2,krum none,0.5,0.25\n");
}

TEST_F(PaperEarlier, TheLongerMeanOfRoundsStands) {
  const EarlierReport earlier =
      report_of("",
                "time,fits,,mnist,100,3.5\ntime,fits,,cifar10,10,2\ntime,fits,,ag-news,0,9\n"
                "ablation,milliseconds,,boba,1000,7\n");
  std::map<std::string, reproduction::RoundMean> means = {{"mnist", {3.0, 50}},
                                                          {"cifar10", {2.5, 20}}};
  take_longer(&earlier, "time", "fits", means);
  EXPECT_EQ(means.size(), 2U) << "no rounds, no mean";
  EXPECT_EQ(means["mnist"].mean, 3.5);
  EXPECT_EQ(means["mnist"].rounds, 100U);
  EXPECT_EQ(means["cifar10"].mean, 2.5);
}

// The median needs the seeds one by one.
TEST_F(PaperEarlier, AMeanAloneHasNoMedian) {
  const auto goal = [&](const std::string& by_seed) {
    const auto file = reproduction::load_paper("unbiasedness");
    auto results = reproduction::collect(*file, {}, reproduction::RunIndex(), nullptr);
    add_earlier(report_of("unbiasedness,mnist,boba,none,,mrd,,,1.5,1,5,,," + by_seed + "\n"),
                *results);
    const auto published = reproduction::published_values("unbiasedness");
    return reproduction::goals(*reproduction::targets(),
                               {{"unbiasedness", compare(*results, *published, {}, false)}})[6];
  };
  EXPECT_EQ(goal("").state, reproduction::GoalState::kNotRun);
  EXPECT_EQ(goal("1:1 2:1 3:1 4:9 5:1").state, reproduction::GoalState::kMet);
  EXPECT_EQ(goal("1:1 2:4 3:4 4:9 5:1").state, reproduction::GoalState::kNotMet);
}

TEST_F(PaperEarlier, ARowWithoutNumbersWasNotRun) {
  EXPECT_EQ(cell(report_of("step,mnist,boba,ipm,4,accuracy,,,,,0,,not run,\n")).seeds, 0U);
}

TEST_F(PaperEarlier, MistakesNameTheirLine) {
  const auto wrong = [](const std::string& numbers, const std::string& points,
                        const std::string& facts, const std::string& part) {
    const auto report =
        parse_earlier(kNumbersHead + numbers, kPointsHead + points, kFactsHead + facts);
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().message.find(part), std::string::npos) << report.error().message;
  };
  const std::string good = "step,mnist,boba,ipm,4,accuracy,,,85,5,2,,,1:80 2:90\n";
  wrong(good + "step,mnist,boba,ipm,4,accuracy,,,many,,1,,,\n", "", "",
        "numbers.csv:3: 'many' should be a number");
  wrong("step,mnist,boba,ipm,4,accuracy,,,85,,-1,,,\n", "", "", "'-1' should be a whole number");
  wrong("step,mnist,boba,ipm,4,accuracy,,,85,,1,,,80\n", "", "", "like 1:92.43");
  wrong("step,mnist,boba,ipm,4,accuracy,,,85,,2,,,1:80 1:90\n", "", "", "each seed once");
  wrong("step,mnist,boba,ipm,4,accuracy,,,85,,1,,,1:80 2:90\n", "", "", "at least the 2 seeds");
  wrong(good, "pca,x,1,variance,1,nan\n", "", "points.csv:2: 'nan' should be a number");
  wrong(good, "", "step,mnist,60000,10000,200,100,15 x,0.1.0\n", "facts.csv:2: 'x'");
  EXPECT_FALSE(parse_earlier("a,b\n", kPointsHead, kFactsHead));
  EXPECT_FALSE(parse_earlier("", kPointsHead, kFactsHead));
}

// What a report writes gives the same report again, without a database.
TEST_F(PaperEarlier, AReportIsMadeAgainFromItsNumbers) {
  std::vector<PaperFile> files;
  for (const char* name : {"unbiasedness", "ablation", "pca", "time", "loss-ratio", "tolerance"}) {
    files.push_back(*reproduction::load_paper(name));
  }
  PaperOptions options;
  options.seeds = 2;
  for (const PaperFile& file : files) {
    for (const PaperRun& run : runs_of(file.name, options)) {
      if (is_runs(file.kind)) {
        const double good = run.rule == "boba" ? 0.9 : 0.8;
        const auto id = store_.add_run(header_of_run(run.experiment));
        ASSERT_TRUE(id);
        if (store_.run(*id)->status != RunStatus::kWaiting) continue;  // shared
        add_finished_run(store_, header_of_run(run.experiment),
                         {good, good, good - 0.1 * static_cast<double>(run.experiment.seed)});
        continue;
      }
      const char* series = file.kind == reproduction::Kind::kPca    ? "variance"
                           : file.kind == reproduction::Kind::kTime ? "ms"
                                                                    : "ratio";
      MeasurementRecord record;
      record.experiment = file.name;
      record.config = canonical_text(run.experiment);
      record.data = "5eed";
      record.seed = run.experiment.seed;
      record.machine = "cpu, 2 threads";
      record.points = {{series, 1, 2.5}, {series, 2, 1.25}};
      ASSERT_TRUE(store_.write_measurement(record));
    }
  }
  const auto first = make_paper_report(files, options, &store_);
  ASSERT_TRUE(first) << first.error().message;
  const auto earlier =
      parse_earlier(first->numbers[0].text, first->numbers[1].text, first->numbers[2].text);
  ASSERT_TRUE(earlier) << earlier.error().message;
  const auto again = make_paper_report(files, options, nullptr, &*earlier);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(markup_fault(again->html), "");
  for (std::size_t i = 0; i < first->numbers.size(); ++i) {
    EXPECT_EQ(again->numbers[i].text, first->numbers[i].text) << first->numbers[i].name;
  }
  EXPECT_EQ(again->html, first->html);
}

}  // namespace
}  // namespace boba::test
