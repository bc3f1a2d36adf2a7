// What the library says, as JSON. A number that JSON cannot hold (NaN, infinity) is null.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "boba/core/options.h"
#include "boba/core/verdict.h"

namespace boba::tools {

// Keys keep their order, so that a report reads from the general to the particular.
using Json = nlohmann::ordered_json;

Json json_number(double value);
Json json_numbers(std::span<const double> values);

// The fields of docs/report-format.md that the verdict knows.
Json to_json(const Verdict& verdict);

Json to_json(const Info& info, std::span<const OptionInfo> options);

// Indented, with a newline at the end.
std::string print_json(const Json& json);

// An object with a line per key, and a line per element of a list of objects: a client is a line.
std::string print_report(const Json& report);

}  // namespace boba::tools
