#include "simulator/partition/gamma.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace boba::sim {

double log_gamma_at(const StreamKey& key, std::uint64_t first, double shape) {
  assert(shape > 0);
  if (shape < 1) {
    // Gamma(a) = Gamma(a + 1) * U^(1/a), of independent numbers.
    return std::log(uniform_at(key, first)) / shape + log_gamma_at(key, first + 1, shape + 1);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  // Each turn accepts with probability above 0.95.
  for (std::uint64_t at = first;; at += 2) {
    const double x = normal_at(key, at);
    const double v = 1 + c * x;
    if (v <= 0) continue;
    const double log_v = 3 * std::log(v);
    if (std::log(uniform_at(key, at + 1)) < 0.5 * x * x + d - d * std::exp(log_v) + d * log_v) {
      return std::log(d) + log_v;
    }
  }
}

std::vector<double> log_dirichlet(const StreamKey& key, std::span<const double> shapes) {
  std::vector<double> logs(shapes.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t z = 0; z < shapes.size(); ++z) {
    if (shapes[z] > 0) logs[z] = log_gamma_at(key, std::uint64_t{z} << 32, shapes[z]);
  }
  const double top = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double value : logs) sum += std::exp(value - top);
  for (double& value : logs) value -= top + std::log(sum);
  return logs;
}

}  // namespace boba::sim
