#include "boba/rules/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace boba {
namespace {

double number_or_infinity(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

}  // namespace

std::vector<bool> choose(std::span<const double> values, std::size_t k, Best best) {
  assert(k <= values.size());
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto better = [&](std::size_t a, std::size_t b) {
    const double x = number_or_infinity(values[a]);
    const double y = number_or_infinity(values[b]);
    if (x != y) return best == Best::kSmallest ? x < y : x > y;
    return a < b;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(order.begin(), end, order.end(), better);
  std::vector<bool> chosen(values.size(), false);
  for (auto it = order.begin(); it != end; ++it) chosen[*it] = true;
  return chosen;
}

Decision mean_of_best(std::span<const double> values, std::size_t k, Best best,
                      std::string_view measure) {
  assert(k > 0);
  const std::vector<bool> chosen = choose(values, k, best);
  const std::string_view extreme = best == Best::kSmallest ? "smallest" : "largest";
  Decision decision;
  decision.rows.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    RowDecision& row = decision.rows[i];
    row.accepted = chosen[i];
    row.weight = chosen[i] ? 1 / static_cast<double>(k) : 0;
    row.reason =
        fmt::format("{}: {} {:.6g} is {}among the {} {} of {}", chosen[i] ? "kept" : "rejected",
                    measure, values[i], chosen[i] ? "" : "not ", k, extreme, values.size());
    row.measures.push_back({std::string(measure), values[i]});
  }
  return decision;
}

Result<void> needs_more_than_f(std::string_view rule, const Shape& shape, int f) {
  const std::size_t tolerated = shape.tolerated(f);
  if (shape.clients > tolerated) return {};
  return invalid_argument(
      fmt::format("{} needs n - f >= 1; got n={}, f={}", rule, shape.clients, tolerated));
}

std::vector<std::string> tolerance_warnings(const Shape& shape, int f) {
  std::vector<std::string> warnings;
  if (f == 0) warnings.emplace_back("f=0 tolerates no Byzantine client");
  if (f > 0 && shape.refused > static_cast<std::size_t>(f)) {
    warnings.push_back(fmt::format(
        "{} updates were refused, more than f={}: others may be Byzantine too", shape.refused, f));
  }
  return warnings;
}

std::vector<std::string> majority_warnings(const Shape& shape, int f) {
  std::vector<std::string> warnings = tolerance_warnings(shape, f);
  const std::size_t tolerated = shape.tolerated(f);
  if (shape.clients <= 2 * tolerated) {
    warnings.push_back(fmt::format("most clients must be honest, n > 2f; got n={}, f={}",
                                   shape.clients, tolerated));
  }
  return warnings;
}

Result<std::vector<double>> losses_alone(RowSpace& rows) {
  std::vector<std::vector<RowSpace::Term>> steps(rows.shape().clients);
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = {{i, 1.0}};
  return rows.losses(0, steps);
}

void warn_not_finite(std::span<const double> values, Decision& decision) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (decision.rows[i].accepted && !std::isfinite(values[i])) ++count;
  }
  if (count == 0) return;
  decision.warnings.push_back(fmt::format(
      "the loss is not finite for {} of the accepted clients: it cannot tell them apart", count));
}

}  // namespace boba
