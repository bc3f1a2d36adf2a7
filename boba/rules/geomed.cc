#include "boba/rules/geomed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boba/rules/distance.h"
#include "boba/rules/weiszfeld.h"

namespace boba {
namespace {

// Weiszfeld's steps from z = 0, as other libraries take them: w_i is 1/max(nu, |g_i - z|), scaled
// to the sum 1, and z the sum of w_i g_i.
GeometricMedian smoothed_steps(const Gram& gram, int steps, double nu) {
  const std::size_t n = gram.clients();
  GeometricMedian median;
  median.converged = true;
  median.iterations = static_cast<std::size_t>(steps);
  median.distances.resize(n);
  for (std::size_t i = 0; i < n; ++i) median.distances[i] = std::sqrt(gram.sq_norm(i));
  for (int step = 0; step < steps; ++step) {
    // Relative to the nearest: 1/nu alone may leave the range of double.
    const double least = *std::min_element(median.distances.begin(), median.distances.end());
    median.weights.assign(n, 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      median.weights[i] = std::max(nu, least) / std::max(nu, median.distances[i]);
      sum += median.weights[i];
    }
    for (double& weight : median.weights) weight /= sum;
    median.distances = distances_to(gram, median.weights);
  }
  return median;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Rounding of the products matters most at the update nearest to the median: it is relative to the
// squared distances from the origin. Updates equal to the median do not move it.
double condition(const Gram& gram, const GeometricMedian& median, double least) {
  std::vector<double> from_origin(gram.clients());
  for (std::size_t i = 0; i < from_origin.size(); ++i) from_origin[i] = gram.centred(i, i);
  const double size = median_of(std::move(from_origin));
  const double equal = median.at_update ? 2 * gram.rounding() * size : -1;
  double nearest = std::numeric_limits<double>::infinity();
  for (const double distance : median.distances) {
    const double sq = std::max(distance, least) * std::max(distance, least);
    if (sq > equal) nearest = std::min(nearest, sq);
  }
  return std::max(1.0, size / nearest);
}

class GeoMed final : public WeightRule {
 public:
  explicit GeoMed(const GeomedOptions& options) : options_(options) {}

  // Steps from zero notice where zero is.
  Traits traits() const override {
    return {.shifts = options_.steps == 0, .scales = options_.steps == 0, .robust = true};
  }

  Result<void> admits(const Shape& shape) const override {
    if (shape.clients > 0) return {};
    return invalid_argument("geomed needs n >= 1; got n=0");
  }

 protected:
  Result<Decision> weigh(const Gram& gram, const Shape&) const override {
    const GeometricMedian median =
        options_.steps > 0 ? smoothed_steps(gram, options_.steps, options_.nu)
                           : geometric_median(gram, options_.tolerance, options_.max_iter);
    Decision decision;
    decision.condition = condition(gram, median, options_.steps > 0 ? options_.nu : 0);
    decision.rows.resize(gram.clients());
    for (std::size_t i = 0; i < decision.rows.size(); ++i) {
      RowDecision& row = decision.rows[i];
      row.weight = median.weights[i];
      row.accepted = row.weight > 0;
      row.reason = options_.steps > 0
                       ? fmt::format("weight {:.4g} after {} steps, at distance {:.6g}",
                                     median.weights[i], options_.steps, median.distances[i])
                       : reason(median, i);
      row.measures = {{"distance", median.distances[i]}};
    }
    decision.measures = {{"iterations", static_cast<double>(median.iterations)},
                         {"converged", median.converged ? 1.0 : 0.0}};
    if (median.at_update) decision.notes.emplace_back("the median is one of the updates");
    if (!median.converged) {
      decision.warnings.push_back(
          fmt::format("stopped after max_iter={} steps; the last moved {:.3g} of the median "
                      "distance, tolerance={:g}",
                      options_.max_iter, median.last_step, options_.tolerance));
    }
    return decision;
  }

 private:
  static std::string reason(const GeometricMedian& median, std::size_t i) {
    if (!median.at_update) {
      return fmt::format("weight {:.4g}, as the inverse of its distance {:.6g} to the median",
                         median.weights[i], median.distances[i]);
    }
    if (median.weights[i] > 0) return "it is the median";
    return fmt::format("another update is the median, at distance {:.6g}", median.distances[i]);
  }

  GeomedOptions options_;
};

}  // namespace

Result<Aggregator> make_geomed(const GeomedOptions& options) {
  return make_named<Aggregator, GeoMed>(options);
}

}  // namespace boba
