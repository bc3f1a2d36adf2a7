// The page about the paper: well-formed, complete, and right in a browser.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "reproduction/paper_report.h"
#include "reproduction/progress.h"
#include "tests/reproduction/runs.h"
#include "tests/support/report_markup.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using reproduction::Kind;
using reproduction::make_paper_report;
using reproduction::PaperFile;
using reproduction::PaperOptions;
using reproduction::PaperRun;

std::vector<PaperFile> all_files() {
  auto files = reproduction::shipped_papers();
  if (!files) throw std::runtime_error(files.error().message);
  return *std::move(files);
}

MeasurementRecord measurement(const std::string& experiment, const std::string& config,
                              const std::vector<MeasuredPoint>& points) {
  MeasurementRecord record;
  record.experiment = experiment;
  record.config = config;
  record.data = "5eed";
  record.seed = 1;
  record.version = "0.1.0";
  record.machine = "cpu, 2 threads";
  record.seconds = 1.5;
  record.points = points;
  return record;
}

class PaperPage : public ::testing::Test {
 protected:
  PaperPage() : store_(std::move(*Store::open(folder_ / "p.db", OpenMode::kCreate))) {}

  // One seed of everything that is made of runs.
  void fill_runs(const PaperOptions& options) {
    std::set<std::string> seen;
    for (const PaperFile& file : all_files()) {
      if (!is_runs(file.kind)) continue;
      for (const PaperRun& run : runs_of(file.name, options)) {
        if (!seen.insert(canonical_text(run.experiment)).second) continue;
        const double good = run.rule == "boba" ? 0.9 : run.attack == "ipm" ? 0.3 : 0.8;
        add_finished_run(store_, header_of_run(run.experiment), {good, good, good - 0.06});
      }
    }
  }

  void fill_measurements(const PaperOptions& options) {
    for (const PaperFile& file : all_files()) {
      if (is_runs(file.kind)) continue;
      if (file.kind == Kind::kPicture) {
        ASSERT_TRUE(store_.write_measurement(
            measurement(file.name, reproduction::picture_config(options.quick),
                        {{"honest", 0, 1},
                         {"centre", 0.5, 0.5},
                         {"krum none", 1, 0},
                         {"krum attack", 1, 0.1},
                         {"krum attack", 9, 9}})));
        continue;
      }
      for (const PaperRun& run : runs_of(file.name, options)) {
        const std::string series = file.kind == Kind::kPca    ? "variance"
                                   : file.kind == Kind::kTime ? "ms"
                                                              : "ratio";
        ASSERT_TRUE(store_.write_measurement(measurement(file.name, canonical_text(run.experiment),
                                                         {{series, 1, 2.5}, {series, 2, 1.25}})));
      }
    }
  }

  std::string page(const PaperOptions& options, const std::vector<PaperFile>& files) {
    const auto report = make_paper_report(files, options, &store_);
    EXPECT_TRUE(report) << report.error().message;
    return report ? report->html : "";
  }

  TemporaryFolder folder_;
  Store store_;
};

TEST_F(PaperPage, SaysWhatWasNotRun) {
  const std::vector<PaperFile> files = all_files();
  const std::string html = page({}, files);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "<section class=\"chapter\""), 26U);
  for (const PaperFile& file : files) {
    EXPECT_NE(html.find("<section class=\"chapter\" id=\"" + file.name + "\""), std::string::npos);
  }
  // Published numbers stand there all the same: tables of 3 data sets, and so on.
  EXPECT_NE(html.find("92.5 ± 0.1"), std::string::npos);
  EXPECT_EQ(html.find("class=\"ours\""), std::string::npos);
  EXPECT_GT(count_of(html, "not run"), 500U);
  EXPECT_EQ(count_of(html, "<td class=\"state\">not run</td>"), 9U);
}

// A figure whose points have one seed or three says so, not "3 seeds".
TEST_F(PaperPage, SaysHowManySeedsAFigureHas) {
  const auto file = reproduction::load_paper("step");
  ASSERT_TRUE(file) << file.error().message;
  const auto fill = [&](bool whole) {
    for (const PaperRun& run : runs_of("step")) {
      if ((run.experiment.seed == 1 || run.setting == "inf") == whole) continue;
      add_finished_run(store_, header_of_run(run.experiment), {0.9, 0.9, 0.9});
    }
  };
  fill(false);
  EXPECT_NE(page({}, {*file}).find(">1 to 3 seeds · "), std::string::npos);
  fill(true);
  EXPECT_NE(page({}, {*file}).find(">3 seeds · "), std::string::npos);
}

TEST_F(PaperPage, ShowsEveryTableAndFigure) {
  PaperOptions options;
  options.seeds = 1;
  fill_runs(options);
  fill_measurements(options);
  const auto report = make_paper_report(all_files(), options, &store_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(markup_fault(report->html), "");
  EXPECT_EQ(report->html.find("Not run."), std::string::npos);
  EXPECT_EQ(report->html.find(">not run<"), std::string::npos);
  EXPECT_NE(report->html.find("not explained yet"), std::string::npos);
  EXPECT_NE(report->html.find("(printed 71.5)"), std::string::npos);
  // Tables 1, 2: three data sets each, 7: with two alphas; 3 and 4: one; 8: four rates; float32.
  const std::size_t papers = 3 + 3 + 6 + 1 + 1 + 4 + 1;
  // boba-hull on three data sets, attackers who know it, two kinds of ids, three partitions, three
  // federations, five sizes of the server's data.
  const std::size_t beyond = 3 + 1 + 2 + 3 + 3 + 5;
  EXPECT_EQ(count_of(report->html, "<table class=\"sortable paper\">"), papers + beyond);
  ASSERT_EQ(report->numbers.size(), 3U);
  const std::string& csv = report->numbers[0].text;
  EXPECT_EQ(csv.find(",not run,\n"), std::string::npos);
  EXPECT_NE(csv.find("tolerance,ag-news,boba,ipm,100/54,accuracy,,,"), std::string::npos);
  EXPECT_NE(report->numbers[1].text.find("pca,"), std::string::npos);
  EXPECT_EQ(report->numbers[1].text.find("krum attack"), std::string::npos);
}

TEST_F(PaperPage, SmallVersionsStandAlone) {
  PaperOptions quick;
  quick.quick = true;
  fill_runs(quick);
  const std::string html = page(quick, all_files());
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(html.find("class=\"pub\""), std::string::npos);
  EXPECT_NE(html.find("class=\"ours\""), std::string::npos);
  // The full page has none of them.
  EXPECT_EQ(page({}, all_files()).find("class=\"ours\""), std::string::npos);
}

TEST_F(PaperPage, ChaptersAreThoseThatWereAskedFor) {
  const auto file = reproduction::load_paper("step");
  ASSERT_TRUE(file);
  const std::string html = page({}, {*file});
  EXPECT_EQ(count_of(html, "<section class=\"chapter\""), 1U);
  EXPECT_EQ(html.find("What has to be reached"), std::string::npos);
}

TEST_F(PaperPage, ProgressCountsAndJudgesTheRest) {
  const std::vector<PaperFile> files = all_files();
  const auto nothing = reproduction::progress_of(files, {}, nullptr);
  ASSERT_TRUE(nothing) << nothing.error().message;
  ASSERT_EQ(nothing->size(), 26U);
  EXPECT_EQ((*nothing)[0].runs, 16U * (5 + 3 + 1));
  EXPECT_EQ((*nothing)[0].done, 0U);
  EXPECT_FALSE((*nothing)[0].seconds_left);
  PaperOptions mnist;
  mnist.grids = {"mnist"};
  add_runs(store_, runs_of("unbiasedness", mnist),
           [](const PaperRun&) { return std::vector<double>(3, 0.5); });
  const auto some = reproduction::progress_of(std::span(files).first(1), {}, &store_);
  ASSERT_TRUE(some);
  EXPECT_EQ((*some)[0].done, 80U);
  EXPECT_FALSE((*some)[0].seconds_left) << "nothing is known of the other data sets";
  // Of Table 2 on MNIST all 450 runs are left; a round of the samples took 1.875 s for 200 rounds.
  const auto rest = reproduction::progress_of(std::span(files).subspan(1, 1), mnist, &store_);
  ASSERT_TRUE(rest);
  ASSERT_TRUE((*rest)[0].seconds_left);
  EXPECT_NEAR(*(*rest)[0].seconds_left, 450 * 1.875, 1);
}

TEST_F(PaperPage, OpensInABrowser) {
  std::string browser;
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (run_program({"sh", "-c", std::string("command -v ") + name}).status == 0) browser = name;
  }
  if (browser.empty()) GTEST_SKIP() << "no chromium on the PATH: apt-get install chromium";
  PaperOptions options;
  options.seeds = 1;
  options.grids = {"mnist"};
  std::vector<PaperFile> files;
  for (const char* name : {"robustness", "step"}) files.push_back(*reproduction::load_paper(name));
  for (const PaperFile& file : files) {
    for (const PaperRun& run : runs_of(file.name, options)) {
      const double good = run.rule == "boba" ? 0.9 : 0.5;
      const auto id = store_.add_run(header_of_run(run.experiment));
      ASSERT_TRUE(id);
      if (store_.run(*id)->status != RunStatus::kWaiting) continue;  // shared
      add_finished_run(store_, header_of_run(run.experiment), {good, good, good});
    }
  }
  write_text(folder_.path() / "page.html", page(options, files));
  const Finished seen =
      run_program({"timeout", "120", browser, "--headless", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run",
                   "--user-data-dir=" + (folder_ / "profile"), "--virtual-time-budget=5000",
                   "--dump-dom", "file://" + (folder_ / "page.html") + "#sort=-worst"});
  ASSERT_EQ(seen.status, 0) << seen.err;
  EXPECT_NE(seen.out.find("data-ready=\"yes\""), std::string::npos);
  EXPECT_NE(seen.out.find("data-errors=\"0\""), std::string::npos);
  const std::size_t body = seen.out.find("<tbody>", seen.out.find("sortable paper"));
  const std::size_t first = seen.out.find("<th scope=\"row\">", body);
  EXPECT_EQ(seen.out.substr(first + 16, 4), "boba") << "sorted by the worst case";
}

}  // namespace
}  // namespace boba::test
