// Lists as JSON text in a column.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"

namespace boba::sim::store {

std::string json_list(std::span<const int> values);
std::string json_list(std::span<const std::int64_t> values);
std::string json_list(std::span<const std::string> values);
// A number that is not finite is null.
std::string json_table(std::span<const std::vector<double>> rows);

// Each refuses what the functions above do not write.
Result<std::vector<int>> read_ints(const std::string& text);
Result<std::vector<std::int64_t>> read_counts(const std::string& text);
Result<std::vector<std::string>> read_strings(const std::string& text);
Result<std::vector<std::vector<double>>> read_table(const std::string& text);

}  // namespace boba::sim::store
