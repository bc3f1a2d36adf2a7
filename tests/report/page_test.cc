#include "boba/report/page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/report_markup.h"
#include "tests/support/report_samples.h"

namespace boba::report {
namespace {

using test::count_of;
using test::markup_fault;
using test::run_data;
using test::sample_runs;
using test::SampleGrid;
using test::table_rows;

const char* const kSections[] = {"curves",    "grid",      "worst",       "mrd",
                                 "recall",    "verdicts",  "label-mix",   "time",
                                 "partition", "confusion", "label-error", "summary"};

bool has(const std::string& page, const std::string& part) { return page.find(part) != page.npos; }

TEST(Page, HasEverySection) {
  const std::string html = page("A <title>", run_data(sample_runs({})));
  EXPECT_EQ(markup_fault(html), "");
  for (const std::string name : kSections) {
    EXPECT_TRUE(has(html, "<section class=\"part\" id=\"s1-" + name + "\">")) << name;
    EXPECT_TRUE(has(html, "<a href=\"#s1-" + name + "\">")) << name;
  }
  EXPECT_TRUE(has(html, "<h1>A &lt;title&gt;</h1>"));
  EXPECT_TRUE(has(html, "24 runs, all finished"));
  EXPECT_TRUE(has(html, "boba holds up best"));
  EXPECT_TRUE(has(html, "20 honest and 3 Byzantine"));
  EXPECT_TRUE(has(html, "2026-03-01 to 2026-03-03"));
  EXPECT_EQ(count_of(html, "<svg "), count_of(html, "<desc>"));
  EXPECT_EQ(count_of(html, "<figure>"), count_of(html, "<figcaption>"));
}

TEST(Page, ShowsTheNumbersOfTheRuns) {
  std::vector<RunData> runs = run_data(sample_runs({.attacks = {"none", "lie"}, .seeds = 1}));
  runs[0].record.accuracy = 0.9125;
  runs[0].record.mrd = 0;
  const std::string html = page("t", runs);
  const test::Rows all = table_rows(html, "sortable runs");
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0][0], "1");
  EXPECT_EQ(all[0][1], "finished");
  EXPECT_EQ(all[0][2], "average");
  EXPECT_EQ(all[0][7], "91.2");
  EXPECT_EQ(all[0][8], "0.0");
  const test::Rows summary = table_rows(html, "sortable summary");
  ASSERT_EQ(summary.size(), 6U);
  EXPECT_EQ(summary[0][4], "91.2");
  EXPECT_EQ(summary[0][5], "–") << "one seed has no deviation";
}

TEST(Page, LeavesOutWhatWasNotMeasured) {
  SampleGrid grid;
  grid.rules = {"average"};
  grid.attacks = {"none"};
  const std::string html = page("t", run_data(sample_runs(grid)));
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_TRUE(has(html, "id=\"s1-curves\""));
  EXPECT_FALSE(has(html, "id=\"s1-worst\"")) << "there was no attack";
  EXPECT_FALSE(has(html, "id=\"s1-label-mix\""));
  EXPECT_FALSE(has(html, "id=\"s1-verdicts\"")) << "average rejects nobody";
}

TEST(Page, OfNoRunsSaysSo) {
  const std::string html = page("t", {});
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_TRUE(has(html, "There are no runs"));
}

TEST(Page, OfRunsThatOnlyWaitListsThem) {
  std::vector<RunData> runs(2);
  runs[1].record.status = RunStatus::kFailed;
  runs[1].record.error = "no clients left";
  const std::string html = page("t", runs);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(table_rows(html, "sortable runs").size(), 2U);
  EXPECT_TRUE(has(html, "2 runs: 1 failed, 1 waiting"));
  EXPECT_TRUE(has(html, "no clients left"));
}

TEST(Page, GroupsSettings) {
  SampleGrid other;
  other.dataset = "mnist";
  std::vector<RunData> runs = run_data(sample_runs({}));
  for (RunData& run : run_data(sample_runs(other))) runs.push_back(std::move(run));
  const std::string html = page("t", runs);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_TRUE(has(html, "48 runs, all finished · 2 settings"));
  EXPECT_EQ(count_of(html, "<section class=\"chapter\""), 2U);
  EXPECT_TRUE(has(html, "id=\"s2-curves\""));
  EXPECT_EQ(table_rows(html, "sortable runs").size(), 48U);
}

TEST(Page, IsSafeWhateverTheDatabaseHolds) {
  const std::string hostile =
      "</script><script>document.title='owned'</script>\"'&\x01\xff" + std::string(5000, 'w');
  SampleGrid grid;
  grid.dataset = grid.partition = hostile;
  grid.rules = {"average", hostile, "boba" + hostile};
  grid.attacks = {"none", hostile};
  grid.classes = {hostile, "b", "c", "d"};
  grid.more_config = hostile + " = " + hostile + "\n";
  auto samples = sample_runs(grid);
  for (auto& sample : samples) {
    sample.header.model = sample.header.algorithm = sample.header.version = hostile;
    sample.clients[0].corruption = hostile;
  }
  std::vector<RunData> runs = run_data(samples);
  runs[0].record.error = hostile;
  runs[1].noted_rounds = 3;
  runs[1].first_note = hostile;
  runs[2].record.created = hostile;
  const std::string html = page(hostile, runs);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "<script"), 1U);
  EXPECT_EQ(count_of(html, "</script"), 1U);
  EXPECT_EQ(html.find(std::string(400, 'w')), html.npos) << "long words are clipped";
}

TEST(Page, SurvivesNumbersThatAreNone) {
  std::vector<RunData> runs = run_data(sample_runs({}));
  const double nothing = std::nan("");
  runs[0].record.accuracy = nothing;
  runs[1].record.accuracy = std::numeric_limits<double>::infinity();
  runs[2].record.mrd = nothing;
  runs[3].recall = {nothing, -1e300, 1e300};
  runs[3].confusion.assign(9, std::numeric_limits<std::int64_t>::min() / 4);
  runs[4].recall.clear();
  runs[4].confusion.clear();
  runs[5].curve = {{std::numeric_limits<int>::max(), 1e300}};
  runs.back().estimate->shares[0] = {nothing, 1e300};
  runs.back().estimate->clients[1] = -7;
  runs.back().estimate->shares.pop_back();
  runs.back().clients[2].labels = {};
  runs.back().record.seconds = -1;
  EXPECT_EQ(markup_fault(page("t", runs)), "");
}

TEST(Page, StaysSmallWithManyRuns) {
  SampleGrid grid = test::large_grid();
  grid.rules = {"average", "krum(f=1)", "mkrum(f=16)", "trmean", "coomed",
                "geomed",  "fltrust",   "rage",        "zeno",   "boba(f=16)"};
  for (int i = 0; i < 9; ++i) grid.attacks.push_back("extra" + std::to_string(i));
  grid.every = 1;
  const std::string html = page("t", run_data(sample_runs(grid)));  // 10 x 16 x 3 runs, 200 rounds
  EXPECT_EQ(table_rows(html, "sortable runs").size(), 480U);
  EXPECT_LT(html.size(), std::size_t{12} << 20);
  EXPECT_TRUE(has(html, "are drawn")) << "what is left out is said";
}

TEST(Page, StaysSmallWithManySettings) {
  std::vector<RunData> runs;
  for (int i = 0; i < 200; ++i) {
    SampleGrid grid;
    grid.rules = {"boba(f=3)"};
    grid.attacks = {"lie"};
    grid.seeds = 1;
    grid.more_config = "x.y = " + std::to_string(i) + "\n";
    for (RunData& run : run_data(sample_runs(grid))) runs.push_back(std::move(run));
  }
  const std::string html = page("t", runs);
  EXPECT_LT(html.size(), std::size_t{4} << 20);
  EXPECT_TRUE(has(html, "The first 20 settings are drawn"));
  EXPECT_EQ(table_rows(html, "sortable runs").size(), 200U);
}

}  // namespace
}  // namespace boba::report
