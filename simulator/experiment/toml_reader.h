// TOML as far as experiments use it: keys at the top and in sections, each with one value or a list
// of values, and the line of each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/experiment/value.h"

namespace boba::sim {

struct PlacedValue {
  Value value;
  std::size_t line = 0;
};

struct TomlEntry {
  std::string section;  // empty at the top of the file
  std::string name;
  std::size_t line = 0;
  std::size_t column = 0;
  bool is_list = false;
  std::vector<PlacedValue> values;  // one, unless it is a list
};

struct TomlSection {
  std::string name;
  std::size_t line = 0;
};

// Both in the order of the file.
struct TomlDocument {
  std::vector<TomlSection> sections;
  std::vector<TomlEntry> entries;
};

// Errors begin with "origin:line: ".
Result<TomlDocument> read_toml(std::string_view text, std::string_view origin);

// One value, as written after the = of a key. The error has no place.
Result<TomlEntry> read_toml_value(std::string_view text);

}  // namespace boba::sim
