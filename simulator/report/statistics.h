// Means over seeds: of numbers and of curves.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace boba::sim::report {

struct Statistics {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;  // of a sample: divided by count - 1; 0 for fewer than two
  double low = 0;
  double high = 0;

  // None where there are too few numbers.
  std::optional<double> known_mean() const {
    return count > 0 ? std::optional(mean) : std::nullopt;
  }
  std::optional<double> known_deviation() const {
    return count > 1 ? std::optional(deviation) : std::nullopt;
  }
};

// Numbers that are not finite are left out.
Statistics statistics_of(std::span<const double> values);

struct CurvePoint {
  double x = 0;
  double y = 0;
};
using Curve = std::vector<CurvePoint>;

struct BandPoint {
  double x = 0;
  double mean = 0;
  double low = 0;
  double high = 0;
};

// At each x that all curves have; where they share none, the longest curve on its own. A mean over
// fewer curves at some places would jump there.
std::vector<BandPoint> band_of(std::span<const Curve> curves);

}  // namespace boba::sim::report
