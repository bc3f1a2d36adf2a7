// What the commands that read a results database share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "boba/core/result.h"
#include "simulator/store/store.h"
#include "tools/command.h"

namespace boba::tools {

// Adds --db with its default, boba.db in the current folder.
void add_db_option(CLI::App& command, std::string& file);

// A file that is not there is an error that ends with the advice.
Result<sim::Store> open_results(
    const std::string& file,
    std::string_view advice = "'boba run' makes one, or name another with --db");

// "92.45" for 0.9245, "-" for none or NaN.
std::string percent(std::optional<double> share);

// Shortest text that reads back as the same number; "" for none or NaN.
std::string exact(std::optional<double> value);

// boba results import: the runs of another database.
void add_results_import(CLI::App& results, Outcome& outcome);

}  // namespace boba::tools
