// Learning rate and cohort, round by round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/experiment/experiment.h"
#include "simulator/experiment/participation.h"

namespace boba::sim {

// The step of a round, counted from 1: rounds 1 .. decay_start have the initial rate; after that it
// falls once every decay_every rounds, first in round decay_start + 1.
double learning_rate(const TrainingSection& training, int round);

// The clients taking part in a round, in rising order.
struct Cohort {
  std::vector<int> honest;
  std::vector<int> byzantine;  // 0 is the first Byzantine client
};

// As many as cohort_size says.
Cohort draw_cohort(const FederationSection& federation, std::uint64_t seed, int round);

}  // namespace boba::sim
