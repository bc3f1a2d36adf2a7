// Learning rate and participation, round by round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "boba/experiment/experiment.h"

namespace boba {

// The step of a round, counted from 1: rounds 1 .. decay_start have the initial rate; after that it
// falls once every decay_every rounds, first in round decay_start + 1.
double learning_rate(const TrainingSection& training, int round);

// The clients taking part in a round, in rising order.
struct Cohort {
  std::vector<int> honest;
  std::vector<int> byzantine;  // 0 is the first Byzantine client
};

// Shares are rounded to whole clients, halves up, at least one honest client.
Cohort draw_cohort(const FederationSection& federation, std::uint64_t seed, int round);

// Whether every client takes part in every round.
bool everyone(const FederationSection& federation);

// The rule with every f scaled like the number of sampled clients, halves up; as it is where all
// Byzantine clients come.
Result<std::string> scaled_rule(std::string_view rule, const FederationSection& federation);

}  // namespace boba
