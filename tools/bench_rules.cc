#include "tools/bench_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "boba/core/spec.h"
#include "boba/rules/registry.h"
#include "tools/describe.h"

namespace boba::tools {
namespace {

// Beside the rules themselves: what a stage behind a cheap rule costs.
constexpr const char* kComposed[] = {"average | server-mix(lambda=0.25)"};

class QuadraticOracle final : public ServerOracle {
 public:
  Result<double> loss(const UpdateView& point) override {
    return visit(point.dtype(), [&]<Element T>(T) -> Result<double> {
      const T* w = point.row<T>(0);
      double sums[8] = {};
      const std::size_t whole = point.length() / 8 * 8;
      for (std::size_t j = 0; j < whole; j += 8) {
        for (std::size_t k = 0; k < 8; ++k) {
          sums[k] += static_cast<double>(w[j + k]) * static_cast<double>(w[j + k]);
        }
      }
      double sum = 0;
      for (double lane : sums) sum += lane;
      for (std::size_t j = whole; j < point.length(); ++j) {
        sum += static_cast<double>(w[j]) * static_cast<double>(w[j]);
      }
      return sum / 2;
    });
  }
  Result<void> gradient(const UpdateView& point, MutableRow out) override {
    visit(point.dtype(),
          [&]<Element T>(T) { std::copy_n(point.row<T>(0), point.length(), out.as<T>().data()); });
    return {};
  }
};

bool takes_f(const std::vector<Described>& all, const std::string& name) {
  for (const Described& item : all) {
    if (item.info.name != name) continue;
    return std::any_of(item.options.begin(), item.options.end(),
                       [](const OptionInfo& option) { return option.name == "f"; });
  }
  return false;
}

bool has_f(const Params& stage) {
  return std::any_of(stage.values.begin(), stage.values.end(),
                     [](const auto& value) { return value.first == "f"; });
}

}  // namespace

std::vector<std::string> split_specs(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : list) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ' || !parts.back().empty()) {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part.erase(part.find_last_not_of(' ') + 1);
  return parts;
}

Result<std::vector<Aggregator>> bench_rules(const std::string& list, int f) {
  const std::vector<Described> all = described_rules();
  std::vector<std::string> specs;
  if (list.empty()) {
    for (const RuleEntry& entry : rules()) specs.emplace_back(entry.info.name);
    specs.insert(specs.end(), std::begin(kComposed), std::end(kComposed));
  } else {
    specs = split_specs(list);
  }
  std::vector<Aggregator> made;
  for (const std::string& spec : specs) {
    Result<std::vector<Params>> stages = parse_spec(spec);
    if (!stages) return stages.error();
    for (Params& stage : *stages) {
      if (takes_f(all, stage.name) && !has_f(stage)) {
        stage.values.emplace_back("f", fmt::format("{}", f));
      }
    }
    Result<Aggregator> rule = make_aggregator(print_spec(*stages));
    if (!rule) return rule.error();
    made.push_back(*std::move(rule));
  }
  return made;
}

BenchRound::BenchRound(const Kernels& kernels, std::size_t n, std::size_t d, std::size_t classes,
                       std::size_t f)
    : rows_(make_synthetic(kernels, {.honest = n - f,
                                     .byzantine = f,
                                     .classes = classes,
                                     .length = d,
                                     .purpose = Purpose::kBench})),
      model_(DType::kFloat32, 1, d),
      oracle_(std::make_unique<QuadraticOracle>()) {
  RowList honest(DType::kFloat32, d);
  for (std::size_t i = 0; i < n - f; ++i) honest.add(rows_.updates.view(), i);
  std::vector<double> weights = mean_weights(n - f);
  kernels.combine(honest.view(), weights, 0, model_.row(0));
  for (double& weight : weights) weight *= -10;
  for (std::size_t i = n - f; i < n; ++i) {
    kernels.combine(honest.view(), weights, 0, rows_.updates.row(i));
  }
}

Round BenchRound::round() const {
  Round round;
  round.updates = rows_.updates.view();
  round.server = rows_.server.view();
  round.model = model_.view();
  round.learning_rate = 0.1;
  round.oracle = oracle_.get();
  round.seed = 1;
  return round;
}

}  // namespace boba::tools
