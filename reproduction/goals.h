// What a reproduction has to reach, each met, not met or not run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reproduction/comparison.h"

namespace boba::reproduction {

enum class GoalState : std::uint8_t { kMet, kNotMet, kNotRun };

struct Goal {
  std::string words;  // "MNIST: average, mkrum and boba within max(0.7 points, 2 sd)"
  GoalState state = GoalState::kNotRun;
  std::string found;  // the numbers behind it
};

std::string_view name(GoalState state);

// From the comparisons of the experiments unbiasedness, robustness and precision.
std::vector<Goal> goals(std::span<const Comparison> unbiasedness,
                        std::span<const Comparison> robustness,
                        std::span<const Comparison> precision);

}  // namespace boba::reproduction
