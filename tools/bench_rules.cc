#include "tools/bench_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "boba/core/open_round.h"
#include "boba/core/spec.h"
#include "boba/kernels/sketch/sketch.h"
#include "boba/rules/registry.h"
#include "boba/text/split.h"
#include "tools/describe.h"
#include "tools/timing.h"

namespace boba::tools {
namespace {

constexpr std::uint64_t kSketchSeed = 1;

OpenRoundOptions options_of(const Round& round, const std::optional<SketchOptions>& gram) {
  OpenRoundOptions options;
  options.dtype = round.updates.dtype();
  options.length = round.updates.length();
  for (std::size_t i = 0; i < round.updates.rows(); ++i) {
    options.cohort.push_back(fmt::format("{}", i));
  }
  options.server = round.server;
  options.server_counts.assign(round.server_counts.begin(), round.server_counts.end());
  options.server_whole = round.server_whole;
  options.model = round.model;
  options.learning_rate = round.learning_rate;
  options.oracle = round.oracle;
  options.seed = round.seed;
  options.number = round.number;
  if (gram) options.sketch = sketch_plan(*gram, kSketchSeed, round.number);
  return options;
}

RowList row_of(const UpdateView& rows, std::size_t i) {
  RowList row(rows.dtype(), rows.length());
  row.add(rows, i);
  return row;
}

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

Result<double> time_of_round(const Kernels& kernels, const Aggregator& rule, const Round& round,
                             const std::optional<SketchOptions>& gram, MutableRow out) {
  std::unique_ptr<const Kernels> sketched;
  if (gram) {
    auto made = make_sketch_kernels(kernels, sketch_plan(*gram, kSketchSeed, round.number));
    if (!made) return made.error();
    sketched = *std::move(made);
  }
  std::optional<Error> error;
  const double ms = milliseconds([&] {
    const Result<Verdict> verdict = rule.aggregate(sketched ? *sketched : kernels, round, out);
    if (!verdict) error = verdict.error();
  });
  if (error) return *error;
  return ms;
}

Result<double> time_of_close(const Kernels& kernels, const Aggregator& rule, const Round& round,
                             const std::optional<SketchOptions>& gram, MutableRow out) {
  const OpenRoundOptions options = options_of(round, gram);
  const std::vector<std::string> ids = options.cohort;
  Result<OpenRound> open = OpenRound::open(kernels, rule, options);
  if (!open) return open.error();
  const std::size_t last = ids.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    if (Result<void> in = open->adopt(ids[i], row_of(round.updates, i).view()); !in) {
      return in.error();
    }
  }
  const RowList row = row_of(round.updates, last);
  std::optional<Error> error;
  const double ms = milliseconds([&] {
    if (Result<void> in = open->submit(ids[last], row.view()); !in) error = in.error();
    const Result<Verdict> verdict = open->close(0, out);
    if (!verdict) error = verdict.error();
  });
  if (error) return *error;
  return ms;
}

Result<std::vector<Aggregator>> bench_rules(const std::string& list, int f) {
  const std::vector<Described> all = described_rules();
  std::vector<std::string> specs;
  if (list.empty()) {
    for (const RuleEntry& entry : rules()) specs.emplace_back(entry.info.name);
    specs.insert(specs.end(), std::begin(kComposed), std::end(kComposed));
  } else {
    for (const std::string_view spec : split_specs(list)) specs.emplace_back(spec);
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
