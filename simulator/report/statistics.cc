#include "simulator/report/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace boba::sim::report {

Statistics statistics_of(std::span<const double> values) {
  Statistics statistics;
  double sum = 0;
  for (double value : values) {
    if (!std::isfinite(value)) continue;
    statistics.low = statistics.count == 0 ? value : std::min(statistics.low, value);
    statistics.high = statistics.count == 0 ? value : std::max(statistics.high, value);
    ++statistics.count;
    sum += value;
  }
  if (statistics.count == 0) return statistics;
  statistics.mean = sum / static_cast<double>(statistics.count);
  if (statistics.count < 2) return statistics;
  double squares = 0;
  for (double value : values) {
    if (std::isfinite(value)) squares += (value - statistics.mean) * (value - statistics.mean);
  }
  statistics.deviation = std::sqrt(squares / static_cast<double>(statistics.count - 1));
  return statistics;
}

std::vector<BandPoint> band_of(std::span<const Curve> curves) {
  std::map<double, std::vector<double>> values;
  const Curve* longest = nullptr;
  std::size_t filled = 0;
  for (const Curve& curve : curves) {
    if (curve.empty()) continue;
    ++filled;
    if (longest == nullptr || curve.size() > longest->size()) longest = &curve;
    for (const CurvePoint& point : curve) values[point.x].push_back(point.y);
  }
  std::vector<BandPoint> band;
  for (const auto& [x, ys] : values) {
    if (ys.size() != filled) continue;
    const Statistics statistics = statistics_of(ys);
    if (statistics.count == 0) continue;
    band.push_back({x, statistics.mean, statistics.low, statistics.high});
  }
  if (!band.empty() || longest == nullptr) return band;
  for (const CurvePoint& point : *longest) band.push_back({point.x, point.y, point.y, point.y});
  return band;
}

}  // namespace boba::sim::report
