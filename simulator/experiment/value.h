// One value of an experiment file, before a key gives it meaning.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace boba::sim {

// What no key takes: a date, a table, a list in a list; text names it.
struct OtherValue {
  std::string text;
};

using Value = std::variant<bool, std::int64_t, double, std::string, OtherValue>;

// "the text 'many'", "the number 2.5", for errors.
std::string describe_value(const Value& value);

}  // namespace boba::sim
