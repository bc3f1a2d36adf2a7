#include "boba/sim/schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "boba/core/random.h"
#include "boba/core/spec.h"

namespace boba {
namespace {

int scaled(double share, int count) { return static_cast<int>(std::floor(share * count + 0.5)); }

std::vector<int> sample(int count, int wanted, const StreamKey& key) {
  const auto order = permutation(key, static_cast<std::size_t>(count));
  std::vector<int> chosen;
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

bool everyone(const FederationSection& federation) { return federation.participation >= 1.0; }

Cohort draw_cohort(const FederationSection& federation, std::uint64_t seed, int round) {
  Cohort cohort;
  const double share = federation.participation;
  const int honest =
      everyone(federation) ? federation.honest : std::max(1, scaled(share, federation.honest));
  const bool all = everyone(federation) || federation.byzantine_turnout == ByzantineTurnout::kAll;
  const int byzantine = all ? federation.byzantine : scaled(share, federation.byzantine);
  StreamKey key{.seed = seed,
                .round = static_cast<std::uint32_t>(round),
                .client = 0,
                .purpose = Purpose::kCohort};
  cohort.honest = sample(federation.honest, honest, key);
  key.client = 1;
  cohort.byzantine = sample(federation.byzantine, byzantine, key);
  return cohort;
}

Result<std::string> scaled_rule(std::string_view rule, const FederationSection& federation) {
  auto stages = parse_spec(rule);
  if (!stages) return stages.error();
  const bool sampled = federation.byzantine_turnout == ByzantineTurnout::kSampled;
  if (everyone(federation) || !sampled) return print_spec(*stages);
  for (Params& stage : *stages) {
    for (auto& value : stage.values) {
      if (value.first != "f") continue;
      int f = 0;
      const char* const end = value.second.data() + value.second.size();
      if (std::from_chars(value.second.data(), end, f).ptr != end) continue;
      value.second = std::to_string(scaled(federation.participation, f));
    }
  }
  return print_spec(*stages);
}

}  // namespace boba
