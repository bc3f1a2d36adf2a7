// What a reproduction has to reach, each met, not met or not run. goals.csv lists the targets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/comparison.h"

namespace boba::reproduction {

// A number, and how the file writes it: 91.0.
struct TargetNumber {
  double number = 0;
  std::string text;  // empty: there is none
};

struct Target {
  std::string check;                     // the name of one of the checks in goals.cc
  std::vector<std::string> experiments;  // whose cells are checked
  std::string subject;                   // "MNIST in float32"
  std::string dataset;
  std::vector<std::string> rules;
  TargetNumber value;
  TargetNumber within;
};

// Those of goals.csv. Errors begin with "origin:line: ".
Result<std::vector<Target>> targets();
Result<std::vector<Target>> parse_targets(std::string_view csv, std::string_view origin);

enum class GoalState : std::uint8_t { kMet, kNotMet, kNotRun };

struct Goal {
  std::string words;  // "MNIST: average, mkrum and boba within max(0.7 points, 2 sd)"
  GoalState state = GoalState::kNotRun;
  std::string found;  // the numbers behind it
};

std::string_view name(GoalState state);

// The comparisons of some experiments, by name.
using Compared = std::map<std::string, std::span<const Comparison>, std::less<>>;

// One goal for each target.
std::vector<Goal> goals(std::span<const Target> targets, const Compared& compared);

}  // namespace boba::reproduction
