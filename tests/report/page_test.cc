#include "simulator/report/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/report_markup.h"
#include "tests/support/report_samples.h"

namespace boba::sim::report {
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
  EXPECT_FALSE(has(html, "id=\"s1-verdicts\"")) << "average leaves out no client";
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

// The number that begins at a place of a text; moves the place behind it.
double take_number(const std::string& text, std::size_t& at) {
  std::size_t used = 0;
  const double value = std::stod(text.substr(at, 40), &used);
  at += used;
  return value;
}

// Estimated shares are affine, so their error knows no bound; a line must stay in its picture.
TEST(Page, KeepsLinesInsideTheirPanels) {
  auto samples = sample_runs({.rules = {"average", "boba(f=16)"}, .seeds = 2});
  for (auto& sample : samples) {
    for (RoundEntry& entry : sample.entries) {
      if (entry.round.label_error && entry.round.round > 10) entry.round.label_error = 15;
    }
  }
  const std::string html = page("t", run_data(samples));
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_TRUE(has(html, "Values above 200 % are drawn at the upper edge."));
  EXPECT_TRUE(has(html, "half the L1 distance"));
  std::size_t panels = 0;
  std::size_t points = 0;
  for (std::size_t at = 0; (at = html.find("<svg ", at)) != html.npos; ++at) {
    const std::string svg = html.substr(at, html.find("</svg>", at) - at);
    if (svg.find("class=\"panel lines\"") == svg.npos) continue;
    ++panels;
    EXPECT_NE(svg.find("<clipPath id="), svg.npos);
    EXPECT_NE(svg.find("clip-path=\"url(#"), svg.npos);
    std::size_t box = svg.find("viewBox=\"0 0 ") + 13;
    const double width = take_number(svg, box);
    const double height = take_number(svg, box);
    for (std::size_t d = 0; (d = svg.find(" d=\"", d)) != svg.npos;) {
      for (d += 4; svg[d] != '"';) {
        if (svg[d] == 'M' || svg[d] == 'L' || svg[d] == 'Z') {
          ++d;
          continue;
        }
        const double x = take_number(svg, d);
        const double y = take_number(svg, d);
        EXPECT_TRUE(x >= 0 && x <= width && y >= 0 && y <= height) << x << " " << y;
        ++points;
      }
    }
  }
  EXPECT_EQ(panels, 8U) << "four of accuracy, four of label errors";
  EXPECT_GT(points, 100U);
}

TEST(Page, MarksSeedsThatFailed) {
  std::vector<RunData> runs = run_data(sample_runs({}));
  runs[0].record.status = RunStatus::kFailed;
  const std::string html = page("t", runs);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_TRUE(has(html, ">1 of 2 failed</text>"));
  EXPECT_TRUE(has(html, "Means are over the seeds whose runs did not fail."));
  EXPECT_EQ(table_rows(html, "sortable summary")[0][3], "1 (1 of 2 failed)");
  EXPECT_FALSE(has(page("t", run_data(sample_runs({}))), "failed</text>"));
}

// A class without test examples has no recall; it is not lost.
TEST(Page, DrawsNoClassWithoutExamplesAsLost) {
  std::vector<RunData> runs = run_data(sample_runs({.rules = {"average"}, .attacks = {"none"}}));
  for (RunData& run : runs) run.recall[2] = std::nan("");
  const std::string html = page("t", runs);
  EXPECT_EQ(markup_fault(html), "");
  const std::size_t begin = html.find("id=\"s1-recall\"");
  const std::string section = html.substr(begin, html.find("</section>", begin) - begin);
  EXPECT_EQ(section.find(">nan<"), section.npos);
  EXPECT_EQ(count_of(section, "class=\"empty\""), 1U);
  EXPECT_EQ(count_of(section, ">–</text>"), 1U);
}

TEST(Page, SaysWhichSeedThePartitionIsOf) {
  const auto text = [](const char* partition) {
    return page("t", run_data(sample_runs({.partition = partition})));
  };
  for (const char* partition :
       {"pairs", "pairs(order=shuffled)", "step(major=2)", "dirichlet(alpha=0.1)"}) {
    EXPECT_TRUE(has(text(partition), "Seed 1. Point at a column for the counts.")) << partition;
  }
  EXPECT_TRUE(has(text("pairs"), "without having seen any of the clients&#39; data") ||
              has(text("pairs"), "without having seen any of the clients' data"));
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
}  // namespace boba::sim::report
