// Small tables as RFC 4180 text.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"

namespace boba::reproduction {

// All lines after the first, which must name exactly these columns. Errors begin with "origin:line:
// ".
Result<std::vector<std::vector<std::string>>> parse_csv(std::string_view text,
                                                        std::string_view origin,
                                                        std::span<const std::string_view> columns);

// A whole cell as a finite number; none if it is not one.
template <typename Number>
std::optional<Number> number_in(std::string_view cell) {
  Number value = 0;
  const char* end = cell.data() + cell.size();
  const auto [stop, status] = std::from_chars(cell.data(), end, value);
  if (status != std::errc() || stop != end || !std::isfinite(static_cast<double>(value))) return {};
  return value;
}

// What stands between the separators; empty parts are left out.
std::vector<std::string> parts_of(std::string_view text, std::string_view separator);

}  // namespace boba::reproduction
