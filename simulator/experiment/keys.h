// The keys of an experiment: one table from which come parsing, checks, defaults, the canonical
// text, help and documentation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "boba/core/result.h"
#include "simulator/experiment/experiment.h"
#include "simulator/experiment/value.h"

namespace boba::sim {

enum class KeyType : std::uint8_t { kText, kInteger, kNumber, kChoice };

// Seeds are TOML integers, which end here.
inline constexpr std::uint64_t kLargestSeed = INT64_MAX;

struct Key {
  std::string_view section = {};  // empty at the top of the file
  std::string_view name = {};
  std::string_view help = {};
  KeyType type = KeyType::kText;
  double low = 0;  // range of a number, both ends included
  double high = 0;
  std::span<const std::string_view> choices = {};

  // Whether the key bears on the numbers of an experiment.
  bool (*matters)(const Experiment& experiment) = nullptr;
  std::string (*print)(const Key& key, const Experiment& experiment) = nullptr;
  Result<void> (*read)(const Key& key, const Value& value, Experiment& experiment) = nullptr;
  Result<void> (*check)(const Key& key, const Experiment& experiment) = nullptr;
  void (*reset)(Experiment& experiment) = nullptr;

  constexpr Key between(double from, double to) const {
    Key copy = *this;
    copy.low = from;
    copy.high = to;
    return copy;
  }
  // The names of an enum's values 0, 1, ... REQUIRES: names lives forever.
  constexpr Key one_of(std::span<const std::string_view> names) const {
    Key copy = *this;
    copy.choices = names;
    return copy;
  }
  constexpr Key when(bool (*condition)(const Experiment&)) const {
    Key copy = *this;
    copy.matters = condition;
    return copy;
  }

  // "training.rounds", "rule".
  std::string path() const;
  // "1..1000000", "fedsgd|fedavg|fedprox", "".
  std::string range() const;
};

// In the order of the documentation; those of a section stand together.
std::span<const Key> keys();

// None if there is no such key.
const Key* find_key(std::string_view path);

// The value that a text without quotes stands for.
Value value_of_text(const Key& key, std::string_view text);

bool is_section(std::string_view name);

// Why section.name is no key, and what is; an empty section is the top of the file.
Error unknown_section(std::string_view name);
Error unknown_key(std::string_view section, std::string_view name);

// "fedsgd", as an experiment file writes it.
std::string_view algorithm_name(Algorithm algorithm);

}  // namespace boba::sim
