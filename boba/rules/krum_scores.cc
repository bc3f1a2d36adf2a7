#include "boba/rules/krum_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "boba/rules/select.h"

namespace boba {
namespace {

// The sum of numbers that are not negative, with the same bits for every order of them, so that
// scores do not depend on the order of the clients. Numbers are rounded to whole multiples of a
// tiny fraction of the largest, which add exactly. Numbers out of that range are sorted instead.
double sum_in_any_order(std::span<double> numbers) {
  const double largest = *std::max_element(numbers.begin(), numbers.end());
  if (!(largest > 0x1p-900 && largest < 0x1p900)) {
    std::sort(numbers.begin(), numbers.end());
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
  }
  // Each is below 2^bits and all of them together below 2^62.
  const int bits = 62 - static_cast<int>(std::bit_width(numbers.size()));
  const int exponent = std::ilogb(largest) + 1;
  const double scale = std::ldexp(1.0, bits - exponent);
  std::int64_t sum = 0;
  for (double number : numbers) sum += static_cast<std::int64_t>(number * scale);
  return std::ldexp(static_cast<double>(sum), exponent - bits);
}

}  // namespace

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
  std::vector<double> distances(n);
  for (std::size_t i = 0; i < n; ++i) {
    gram.sq_distances(i, distances);
    // The client itself is not among its neighbours.
    std::swap(distances[i], distances[n - 1]);
    const auto end = distances.begin() + static_cast<std::ptrdiff_t>(neighbours);
    std::nth_element(distances.begin(), end - 1, distances.end() - 1);
    scores[i] = sum_in_any_order({distances.begin(), end});
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
