#include "boba/rules/krum_scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "boba/rules/select.h"

namespace boba {

Result<std::size_t> krum_neighbours(std::string_view rule, const Shape& shape, int f,
                                    int neighbours) {
  const std::size_t n = shape.clients;
  const std::size_t tolerated = shape.tolerated(f);
  if (neighbours > 0) {
    const auto asked = static_cast<std::size_t>(neighbours);
    if (asked + 1 <= n) return asked;
    return invalid_argument(
        fmt::format("{} with neighbours={} needs n >= {}; got n={}", rule, asked, asked + 1, n));
  }
  if (n >= tolerated + 3) return n - tolerated - 2;
  return invalid_argument(
      fmt::format("{} needs n - f - 2 >= 1; got n={}, f={}", rule, n, tolerated));
}

std::vector<double> krum_scores(const Gram& gram, std::size_t neighbours) {
  const std::size_t n = gram.clients();
  std::vector<double> scores(n);
  std::vector<double> distances;
  for (std::size_t i = 0; i < n; ++i) {
    distances.clear();
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) distances.push_back(gram.sq_distance(i, j));
    }
    // Sorted, so that the sum does not depend on the order of the clients.
    const auto end = distances.begin() + static_cast<std::ptrdiff_t>(neighbours);
    std::nth_element(distances.begin(), end - 1, distances.end());
    std::sort(distances.begin(), end);
    for (auto it = distances.begin(); it != end; ++it) scores[i] += *it;
  }
  return scores;
}

std::vector<std::string> krum_warnings(const Shape& shape, int f) {
  std::vector<std::string> warnings = tolerance_warnings(shape, f);
  const std::size_t tolerated = shape.tolerated(f);
  if (shape.clients < 2 * tolerated + 3) {
    warnings.push_back(
        fmt::format("the guarantee needs n >= 2f + 3; got n={}, f={}", shape.clients, tolerated));
  }
  return warnings;
}

}  // namespace boba
