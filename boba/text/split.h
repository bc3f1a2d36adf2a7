// Parts of a text.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace boba {

// Without the blanks, tabs and line ends around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// The parts between the commas outside brackets, trimmed: "krum(f=2,neighbours=3), boba" has two.
inline std::vector<std::string_view> split_specs(std::string_view list, char separator = ',') {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '(') ++depth;
    if (list[i] == ')') --depth;
    if (list[i] != separator || depth > 0) continue;
    parts.push_back(trimmed(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(trimmed(list.substr(begin)));
  return parts;
}

}  // namespace boba
