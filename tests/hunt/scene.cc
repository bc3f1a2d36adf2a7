#include "tests/hunt/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "boba/rules/registry.h"

namespace boba::hunt {

std::size_t Dice::below(std::size_t count) {
  return std::min(count - 1, static_cast<std::size_t>(uniform() * static_cast<double>(count)));
}

namespace {

// rage-raw is rage with an option, and boba-hull-found is boba-hull without the server's rows.
std::string_view registered(std::string_view rule) {
  if (rule == "boba-hull-found") return "boba-hull";
  return rule == "rage-raw" ? "rage" : rule;
}

}  // namespace

Family RuleUse::family() const {
  const Result<Aggregator> made = make_aggregator(spec_without_stages());
  switch (made->need()) {
    case Need::kNothing:
      return Family::kCoordinate;
    case Need::kServerGram:
      return Family::kSubspace;
    case Need::kServerProducts:
      return Family::kDirection;
    case Need::kNorms:
      return made->server_data() == ServerData::kLoss ? Family::kProbing : Family::kDirection;
    case Need::kGram:
      break;
  }
  return Family::kDistance;
}

bool RuleUse::has_f() const {
  const std::vector<OptionInfo> options = find_entry(rules(), registered(rule))->options();
  return std::any_of(options.begin(), options.end(),
                     [](const OptionInfo& option) { return option.name == "f"; });
}

std::string RuleUse::spec_without_stages() const {
  if (rule == "rage-raw") return fmt::format("rage(f={},projection=raw)", f);
  if (rule == "boba-hull-found") {
    return fmt::format("boba-hull(f={},classes={})", f,
                       classes > 0 ? std::to_string(classes) : "auto");
  }
  return has_f() ? fmt::format("{}(f={})", rule, f) : rule;
}

std::string RuleUse::spec() const {
  std::string text;
  if (bucket > 0) {
    text = fmt::format("bucketing(s={}{}) | ", bucket, keep ? ",remainder=keep" : "");
  }
  if (bucket > 0 && !keep && find_entry(rules(), "b-" + rule) != nullptr) {
    text = fmt::format("b-{}(f={},s={})", rule, f, bucket);
  } else {
    text += spec_without_stages();
  }
  if (lambda > 0) text += fmt::format(" | server-mix(lambda={})", lambda);
  return text;
}

std::string RuleUse::title() const {
  return (bucket > 0 ? "bucketing | " : "") + rule + (lambda > 0 ? " | server-mix" : "");
}

std::string_view name(Backend backend) {
  switch (backend) {
    case Backend::kOneThread:
      return "cpu-1";
    case Backend::kTwoThreads:
      return "cpu-2";
    case Backend::kSketch:
      return "sketch";
    case Backend::kOpen:
      return "open";
    case Backend::kOpenSketch:
      return "open-sketch";
    case Backend::kRanks:
      return "ranks-2";
    case Backend::kCuda:
      return "cuda";
  }
  return "";
}

std::size_t Scene::liars() const {
  return static_cast<std::size_t>(std::count(liar.begin(), liar.end(), true));
}

double length_of(const Row& a) {
  double most = 0;
  for (double x : a) most = std::max(most, std::abs(x));
  if (most == 0 || !std::isfinite(most)) return most;
  double sum = 0;
  for (double x : a) sum += (x / most) * (x / most);
  return most * std::sqrt(sum);
}

double distance(const Row& a, const Row& b) {
  Row difference(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) difference[k] = a[k] - b[k];
  return length_of(difference);
}

double fitted(double value, DType dtype) {
  if (dtype == DType::kFloat64) return value;
  const double most = std::numeric_limits<float>::max();
  return static_cast<double>(static_cast<float>(std::clamp(value, -most, most)));
}

Honest honest_part(const Scene& scene) {
  Honest honest;
  honest.mean.assign(scene.length(), 0.0);
  double count = 0;
  for (std::size_t i = 0; i < scene.updates.size(); ++i) count += scene.liar[i] ? 0 : 1;
  for (std::size_t i = 0; i < scene.updates.size(); ++i) {
    if (scene.liar[i]) continue;
    for (std::size_t k = 0; k < honest.mean.size(); ++k) {
      honest.mean[k] += scene.updates[i][k] / count;
    }
  }
  Row distances;
  for (std::size_t i = 0; i < scene.updates.size(); ++i) {
    if (!scene.liar[i]) distances.push_back(distance(scene.updates[i], honest.mean));
  }
  // Rows that are all equal are told apart by their type's rounding alone.
  honest.spread = std::max(length_of(distances) / std::sqrt(count), 1e-6 * length_of(honest.mean));
  if (honest.spread == 0) honest.spread = 1;
  return honest;
}

}  // namespace boba::hunt
