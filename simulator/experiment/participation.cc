#include "simulator/experiment/participation.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace boba::sim {
namespace {

// Above the rounding of a product with 2^20 clients, below any difference that is meant.
constexpr double kSlack = 1e-9;

}  // namespace

int clients_of(double share, int count) {
  return static_cast<int>(std::floor(share * count + 0.5 + kSlack));
}

bool everyone(const FederationSection& federation) { return federation.participation >= 1.0; }

CohortSize cohort_size(const FederationSection& federation) {
  if (everyone(federation)) return {federation.honest, federation.byzantine};
  const double share = federation.participation;
  const bool all = federation.byzantine_turnout == ByzantineTurnout::kAll;
  return {std::max(1, clients_of(share, federation.honest)),
          all ? federation.byzantine : clients_of(share, federation.byzantine)};
}

std::vector<Params> scaled_stages(std::vector<Params> stages, const FederationSection& federation) {
  const bool sampled = federation.byzantine_turnout == ByzantineTurnout::kSampled;
  if (everyone(federation) || !sampled) return stages;
  for (Params& stage : stages) {
    for (auto& value : stage.values) {
      if (value.first != "f") continue;
      int f = 0;
      const char* const end = value.second.data() + value.second.size();
      if (std::from_chars(value.second.data(), end, f).ptr != end) continue;
      value.second = std::to_string(clients_of(federation.participation, f));
    }
  }
  return stages;
}

}  // namespace boba::sim
