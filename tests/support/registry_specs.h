// Specs of registry entries with other values than the defaults.
#pragma once

#include <string>
#include <vector>

#include "boba/core/options.h"
#include "boba/core/spec.h"

namespace boba::test {

// A value of the option that is not its default.
inline std::string another(const OptionInfo& option) {
  if (!option.choices.empty()) return option.choices.back();
  if (option.type == "integer") return std::to_string(std::stoi(option.default_value) + 1);
  const double value = std::stod(option.default_value);
  const bool halve = value != 0 && value / 2 > option.low;
  return detail::print_number(halve ? value / 2 : value + 1);
}

inline Params full_params(const Info& info, const std::vector<OptionInfo>& options) {
  Params params{std::string(info.name), {}};
  for (const OptionInfo& option : options) params.values.emplace_back(option.name, another(option));
  return params;
}

}  // namespace boba::test
