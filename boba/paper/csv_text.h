// Small tables as RFC 4180 text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"

namespace boba::paper {

// All lines after the first, which must name exactly these columns. Errors begin with "origin:line:
// ".
Result<std::vector<std::vector<std::string>>> parse_csv(std::string_view text,
                                                        std::string_view origin,
                                                        std::span<const std::string_view> columns);

}  // namespace boba::paper
