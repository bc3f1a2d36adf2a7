// One self-contained HTML page about the runs of a database: plots as SVG, tables that sort.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/report/report_data.h"
#include "simulator/report/settings.h"
#include "simulator/store/store.h"

namespace boba::sim {

struct ReportOptions {
  std::string title = "boba report";
  std::string where = {};  // which runs, as Store::runs takes it; empty: all
};

// Reads the finished and unfinished runs of the store; an empty database gives a page that says so.
Result<std::string> make_report(const Store& store, const ReportOptions& options = {});

namespace report {

// HTML of one file that needs no other.
std::string page(std::string_view title, const std::vector<RunData>& runs);

// A page of its own around a body; more_style comes after the style sheet.
std::string document(std::string_view title, const std::string& body,
                     std::string_view more_style = {});

// What came out, in one or two plain sentences; empty where nothing was measured under attack.
std::string conclusion(const Setting& setting);

// report.css. Colours are variables, so that dark pages and paper change them in one place. Rules
// have the colours of Okabe and Ito's palette for colour-blind readers, darkened or lightened until
// each has a contrast of 3 to the page. Shades of heat maps have one hue, and the text on each
// shade a contrast of 4.5; tests/report/style_test.cc computes both.
std::string_view style_sheet();

// report.js: sorting, values under the pointer, bringing out a rule, choosing a run. The page is
// complete without it. It reads values from the elements, so the page embeds no data as code, and
// it writes text only, never markup. <html data-ready data-errors> tell a test whether it ran.
std::string_view script();

}  // namespace report
}  // namespace boba::sim
