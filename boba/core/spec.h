// Spec strings: `name`, `name(key=value,...)`, stages joined by `|`.
//
//   bucketing(s=2) | krum(f=16)
//
// One grammar for the command line, TOML, C and Python. Names and values know nothing of rules;
// the registries give them meaning.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boba/core/result.h"

namespace boba {

// One stage as it was written: untyped, in the order given.
struct Params {
  std::string name;
  std::vector<std::pair<std::string, std::string>> values;
};

// At least one stage. Refuses empty names, doubled keys, unbalanced brackets, stray characters,
// and texts over 4096 characters.
Result<std::vector<Params>> parse_spec(std::string_view text);

// A spec of one stage. kind: "attack", for the error.
Result<Params> parse_single(std::string_view kind, std::string_view text);

// "no attack 'ipmm'; did you mean ipm? attacks are: ...".
Error unknown_name(std::string_view kind, std::string_view name,
                   std::span<const std::string_view> known);

// The inverse of parse_spec.
std::string print_spec(std::span<const Params> stages);
std::string print_spec(const Params& stage);

}  // namespace boba
