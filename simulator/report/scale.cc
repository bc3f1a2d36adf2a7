#include "simulator/report/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace boba::sim::report {
namespace {

constexpr int kMostTicks = 50;
constexpr double kNarrowest = 0.2;  // of a domain of shares: a smaller one makes noise look large

// 1, 2 or 5 times a power of ten, the first that is at least the raw step.
double nice_step(double raw) {
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> ticks_with(double from, double to, double step) {
  std::vector<double> ticks;
  const double first = std::ceil(from / step - 1e-9);
  const double last = std::floor(to / step + 1e-9);
  for (double i = first; i <= last && ticks.size() < kMostTicks; ++i) ticks.push_back(i * step);
  return ticks;
}

}  // namespace

double LinearScale::operator()(double value) const {
  const double extent = to_ - from_;
  if (!(std::abs(extent) > 0) || !std::isfinite(value)) return (low_ + high_) / 2;
  return low_ + (high_ - low_) * ((value - from_) / extent);
}

std::vector<double> nice_ticks(double from, double to, int wanted) {
  const double extent = to - from;
  if (!(extent > 0) || !std::isfinite(extent) || wanted < 1) return {from};
  return ticks_with(from, to, nice_step(extent / wanted));
}

std::vector<double> whole_ticks(double from, double to, int wanted) {
  const double extent = to - from;
  if (!(extent > 0) || !std::isfinite(extent) || wanted < 1) return {from};
  return ticks_with(from, to, std::max(1.0, nice_step(extent / wanted)));
}

std::string tick_label(double value, double step) {
  if (std::abs(value) >= 10000 && std::abs(step) >= 1000) return fmt::format("{:g}k", value / 1000);
  int decimals = 0;
  for (double s = std::abs(step); s > 0 && s < 1 - 1e-9 && decimals < 6; s *= 10) ++decimals;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  return text == "-0" ? "0" : text;
}

Domain share_domain(const std::vector<double>& values) {
  Domain domain{1, 0};
  for (double value : values) {
    if (!std::isfinite(value)) continue;
    domain.from = std::min(domain.from, value);
    domain.to = std::max(domain.to, value);
  }
  if (domain.from > domain.to) return {0, 1};
  domain.from = std::clamp(std::floor(domain.from * 10 + 1e-9) / 10, 0.0, 1.0);
  domain.to = std::clamp(std::ceil(domain.to * 10 - 1e-9) / 10, 0.0, 1.0);
  if (domain.to - domain.from < kNarrowest) {
    domain.from = std::max(0.0, std::min(domain.from, domain.to - kNarrowest));
    domain.to = std::max(domain.to, domain.from + kNarrowest);
  }
  return domain;
}

Domain error_domain(const std::vector<double>& values) {
  double most = 0;
  for (double value : values) {
    if (std::isfinite(value)) most = std::max(most, value);
  }
  if (most <= 1) return share_domain({0, most});
  return {0, std::min(kErrorCap, std::ceil(most * 5 - 1e-9) / 5)};
}

int bin_of(double value, const Domain& domain, int bins) {
  if (!(domain.to > domain.from) || std::isnan(value)) return 0;
  const double place = (value - domain.from) / (domain.to - domain.from) * bins;
  return static_cast<int>(std::clamp(std::floor(place), 0.0, bins - 1.0));
}

}  // namespace boba::sim::report
