#include "simulator/train/schedule.h"

#include <algorithm>
#include <cmath>

#include "boba/core/random.h"

namespace boba::sim {
namespace {

std::vector<int> sample(int count, int wanted, const StreamKey& key) {
  const auto order = permutation(key, static_cast<std::size_t>(count));
  std::vector<int> chosen;
  chosen.reserve(static_cast<std::size_t>(wanted));
  for (int i = 0; i < wanted; ++i) {
    chosen.push_back(static_cast<int>(order[static_cast<std::size_t>(i)]));
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

double learning_rate(const TrainingSection& training, int round) {
  if (round <= training.decay_start) return training.learning_rate;
  const int falls = (round - 1 - training.decay_start) / training.decay_every + 1;
  return training.learning_rate * std::pow(training.decay, falls);
}

Cohort draw_cohort(const FederationSection& federation, std::uint64_t seed, int round) {
  const CohortSize size = cohort_size(federation);
  StreamKey key{.seed = seed,
                .round = static_cast<std::uint32_t>(round),
                .client = 0,
                .purpose = Purpose::kCohort};
  Cohort cohort;
  cohort.honest = sample(federation.honest, size.honest, key);
  key.client = 1;
  cohort.byzantine = sample(federation.byzantine, size.byzantine, key);
  return cohort;
}

}  // namespace boba::sim
