// One self-contained HTML page about the runs of a database: plots as SVG, tables that sort.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "boba/core/result.h"
#include "simulator/store/store.h"

namespace boba::sim {

struct ReportOptions {
  std::string title = "boba report";
  std::string where = {};  // which runs, as Store::runs takes it; empty: all
};

// Reads the finished and unfinished runs of the store; an empty database gives a page that says so.
Result<std::string> make_report(const Store& store, const ReportOptions& options = {});

}  // namespace boba::sim
