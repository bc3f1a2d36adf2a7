// The keys of an experiment: its fields, with the values that TOML gives them and whether they bear
// on the numbers of a run. Parsing, checks, defaults, the canonical text, help and documentation
// come from them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "boba/core/options.h"
#include "boba/core/result.h"
#include "simulator/experiment/experiment.h"
#include "simulator/experiment/value.h"

namespace boba::sim {

struct ResolvedExperiment;

struct Key {
  OptionInfo info;  // its name is "training.rounds", or "rule"

  // Whether the key bears on the numbers of an experiment.
  bool (*matters)(const ResolvedExperiment& experiment) = nullptr;
  std::function<std::string(const Experiment& experiment)> print = {};
  std::function<Result<void>(const Experiment& experiment)> check = {};  // its range
  std::function<void(Experiment& experiment)> reset = {};                // to its default
  std::function<Result<void>(std::string_view text, Experiment& experiment)> read_text = {};

  const std::string& path() const { return info.name; }
  std::string_view section() const;  // empty at the top of the file
  std::string_view name() const;     // within the section
  bool takes_text() const { return info.type == "text" || info.type == "choice"; }

  // A value of another type than the key's is an error.
  Result<void> read(const Value& value, Experiment& experiment) const;
};

// In the order of the documentation; the keys of a section are contiguous.
std::span<const Key> keys();

// None if there is no such key.
const Key* find_key(std::string_view path);

// The value of a text without quotes.
Value value_of_text(const Key& key, std::string_view text);

bool is_section(std::string_view name);

// Errors that list the valid sections or keys. An empty section is the top of the file.
Error unknown_section(std::string_view name);
Error unknown_key(std::string_view section, std::string_view name);

}  // namespace boba::sim
