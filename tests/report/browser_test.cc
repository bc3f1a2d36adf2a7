// The page in a browser: a store is filled, the report written, and Chromium asked what it sees.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "simulator/report/report.h"
#include "tests/support/report_markup.h"
#include "tests/support/report_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

// The program's name, or nothing if it is not on the PATH.
std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (run_program({"sh", "-c", std::string("command -v ") + name}).status == 0) return name;
  }
  return "";
}

class ReportInBrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    program_ = browser();
    if (program_.empty()) GTEST_SKIP() << "no chromium on the PATH: apt-get install chromium";
  }

  Store store() {
    Result<Store> opened = Store::open(folder_ / "runs.db", OpenMode::kCreate);
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }

  void write_page(const Store& from, const ReportOptions& options = {}) {
    const Result<std::string> html = make_report(from, options);
    ASSERT_TRUE(html) << html.error().message;
    EXPECT_EQ(markup_fault(*html), "");
    write_text(folder_.path() / "report.html", *html);
  }

  // The page after its script has run, as markup.
  std::string open(const std::string& hash = "") {
    const Finished finished = run_program(
        {"timeout", "120", program_, "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir=" + (folder_ / "profile"),
         "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom",
         "file://" + (folder_ / "report.html") + hash});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.err.find("CONSOLE"), std::string::npos) << finished.err;
    return finished.out;
  }

  void expect_no_script_error(const std::string& dom) {
    const std::string root = dom.substr(0, dom.find("<head>"));
    EXPECT_NE(root.find("data-ready=\"yes\""), std::string::npos) << root;
    EXPECT_NE(root.find("data-errors=\"0\""), std::string::npos) << root;
  }

  TemporaryFolder folder_;
  std::string program_;
};

std::vector<double> column(const Rows& rows, std::size_t index) {
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(std::stod(row.at(index)));
  return values;
}

TEST_F(ReportInBrowser, ShowsTheRunsOfTheStore) {
  Store runs = store();
  const auto samples = sample_runs({});
  fill_store(runs, samples);
  write_page(runs);
  const std::string dom = open();
  expect_no_script_error(dom);
  const Rows all = table_rows(dom, "sortable runs");
  ASSERT_EQ(all.size(), samples.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i][1], "finished");
    EXPECT_EQ(all[i][2], samples[i].header.rule);
    const double accuracy = samples[i].entries.back().evaluation->accuracy;
    EXPECT_NEAR(std::stod(all[i][7]), 100 * accuracy, 0.051);
  }
  EXPECT_EQ(table_rows(dom, "sortable summary").size(), 12U);
  for (const char* name : {"curves", "grid", "worst", "mrd", "recall", "verdicts", "label-mix",
                           "label-error", "partition", "time", "confusion"}) {
    EXPECT_NE(dom.find(std::string("id=\"s1-") + name + "\""), std::string::npos) << name;
  }
  EXPECT_EQ(count_of(dom, "<svg "), count_of(dom, "aria-label=\"") -
                                        count_of(dom, "class=\"legend") -
                                        count_of(dom, "<nav class"))
      << "every picture has a name";
}

TEST_F(ReportInBrowser, SortsByTheAddressAndByNumbers) {
  Store runs = store();
  fill_store(runs, sample_runs({}));
  write_page(runs);
  const std::string up = open("#sort=accuracy");
  expect_no_script_error(up);
  const std::vector<double> rising = column(table_rows(up, "sortable runs"), 7);
  ASSERT_EQ(rising.size(), 24U);
  EXPECT_TRUE(std::is_sorted(rising.begin(), rising.end()));
  EXPECT_LT(rising.front(), 12) << "numbers as numbers: 9.8 comes before 62.1";
  EXPECT_NE(up.find("aria-sort=\"ascending\" data-key=\"accuracy\""), std::string::npos);
  const std::string down = open("#sort=-run");
  const std::vector<double> falling = column(table_rows(down, "sortable runs"), 0);
  EXPECT_TRUE(std::is_sorted(falling.rbegin(), falling.rend()));
  EXPECT_EQ(falling.front(), 24);
}

TEST_F(ReportInBrowser, DoesWhatAVisitorAsks) {
  Store runs = store();
  fill_store(runs, sample_runs({}));
  write_page(runs);
  // A visitor in a few lines: presses a heading twice, chooses a run, moves over a panel, presses a
  // legend, uses the keyboard; what it saw goes into the title.
  const std::string visitor = R"js(<script>
    const seen = [];
    const head = document.querySelector(".runs th[data-key=mrd]");
    head.firstElementChild.click(); head.firstElementChild.click();
    seen.push(head.getAttribute("aria-sort"));
    const select = document.querySelector("select[data-chooser]");
    select.selectedIndex = 2; select.dispatchEvent(new Event("change"));
    seen.push(document.querySelectorAll(".choice:not([hidden])").length);
    seen.push(document.getElementById(select.value).hidden);
    const panel = document.querySelector("svg.lines");
    panel.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    seen.push(document.getElementById("tip").textContent.split("\n").length);
    panel.dispatchEvent(new PointerEvent("pointermove", { clientX: 1e4, clientY: 5, bubbles: true }));
    seen.push(document.getElementById("tip").textContent.split("\n")[0]);
    const button = document.querySelector(".legend button");
    button.click();
    seen.push(button.getAttribute("aria-pressed"), document.body.className);
    button.click();
    seen.push(document.body.className);
    dispatchEvent(new Event("beforeprint"));
    seen.push(document.querySelector("details").open);
    document.title = seen.join("|");
  </script></body>)js";
  std::string html = read_text(folder_.path() / "report.html");
  const std::size_t end = html.find("</body>");
  html.replace(end, 7, visitor);
  write_text(folder_.path() / "report.html", html);
  const std::string dom = open();
  expect_no_script_error(dom);
  const std::size_t title = dom.find("<title>");
  EXPECT_EQ(dom.substr(title + 7, dom.find("</title>") - title - 7),
            "descending|1|false|4|round 20|true|dimmed||true");
}

TEST_F(ReportInBrowser, StaysWholeUnderHostileNames) {
  Store runs = store();
  const std::string hostile =
      "x</script><script>throw 1</script><img src=x onerror=\"throw 2\">'\"&";
  SampleGrid grid;
  grid.dataset = grid.partition = hostile;
  grid.rules = {"average", "boba" + hostile};
  grid.attacks = {"none", hostile};
  grid.classes = {hostile, "b", "c"};
  grid.seeds = 1;
  fill_store(runs, sample_runs(grid));
  write_page(runs, {.title = hostile});
  const std::string dom = open();
  expect_no_script_error(dom);
  EXPECT_EQ(count_of(dom, "<script"), 1U);
  EXPECT_EQ(count_of(dom, "<img"), 0U);
  const Rows all = table_rows(dom, "sortable runs");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[3][2], "boba" + hostile);
}

TEST_F(ReportInBrowser, OpensWithoutAnyRun) {
  const Store runs = store();
  write_page(runs);
  const std::string dom = open();
  expect_no_script_error(dom);
  EXPECT_NE(dom.find("There are no runs"), std::string::npos);
}

// Without a browser: what make_report itself promises.
TEST(MakeReport, TakesTheRunsThatWereAskedFor) {
  const TemporaryFolder folder;
  Result<Store> runs = Store::open(folder / "runs.db", OpenMode::kCreate);
  ASSERT_TRUE(runs) << runs.error().message;
  fill_store(*runs, sample_runs({}));
  const Result<std::string> some = make_report(*runs, {.title = "t", .where = "attack=lie"});
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_EQ(table_rows(*some, "sortable runs").size(), 6U);
  EXPECT_FALSE(make_report(*runs, {.title = "t", .where = "nonsense"}));
  const Result<std::string> again = make_report(*runs, {.title = "t", .where = "attack=lie"});
  ASSERT_TRUE(again);
  EXPECT_EQ(*some, *again);
}

TEST(MakeReport, ShowsUnfinishedAndFailedRuns) {
  const TemporaryFolder folder;
  Result<Store> runs = Store::open(folder / "runs.db", OpenMode::kCreate);
  ASSERT_TRUE(runs) << runs.error().message;
  const auto samples = sample_runs({});
  for (std::size_t i = 0; i < 3; ++i) {
    const auto id = runs->add_run(samples[i].header);
    ASSERT_TRUE(id);
    if (i == 0) continue;
    ASSERT_TRUE(runs->claim(*id, ClaimMode::kNew));
    ASSERT_TRUE(runs->write_clients(*id, samples[i].clients));
    for (std::size_t r = 0; r < 10; ++r) {
      ASSERT_TRUE(runs->write_round(*id, samples[i].entries[r]));
    }
    ASSERT_TRUE(i == 1 ? runs->stop(*id) : runs->fail(*id, "the disk <is> full"));
  }
  const Result<std::string> html = make_report(*runs);
  ASSERT_TRUE(html) << html.error().message;
  EXPECT_EQ(markup_fault(*html), "");
  const Rows all = table_rows(*html, "sortable runs");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0][1], "waiting");
  EXPECT_EQ(all[1][1], "stopped");
  EXPECT_EQ(all[1][6], "10 of 20");
  EXPECT_EQ(all[2][10], "the disk <is> full");
}

}  // namespace
}  // namespace boba::test
