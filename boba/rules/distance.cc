#include "boba/rules/distance.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace boba {

std::vector<double> distances_to(const Gram& gram, std::span<const double> weights) {
  const std::size_t n = gram.clients();
  assert(weights.size() == n);
  std::vector<double> with_mean(n, 0.0);  // <g_i - o, mean - o>
  for (std::size_t i = 0; i < n; ++i) {
    if (weights[i] == 0) continue;
    for (std::size_t j = 0; j < n; ++j) with_mean[j] += weights[i] * gram.centred(i, j);
  }
  double mean_sq = 0;
  for (std::size_t i = 0; i < n; ++i) mean_sq += weights[i] * with_mean[i];
  std::vector<double> distances(n);
  for (std::size_t i = 0; i < n; ++i) {
    // Rounding can cross zero where g_i is the mean.
    distances[i] = std::sqrt(std::max(0.0, gram.centred(i, i) - 2 * with_mean[i] + mean_sq));
  }
  return distances;
}

void add_distances(const Gram& gram, Decision& decision) {
  std::vector<double> weights;
  for (const RowDecision& row : decision.rows) weights.push_back(row.weight);
  const std::vector<double> distances = distances_to(gram, weights);
  for (std::size_t i = 0; i < distances.size(); ++i) {
    decision.rows[i].measures.push_back({"distance", distances[i]});
  }
}

}  // namespace boba
