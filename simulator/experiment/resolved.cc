#include "simulator/experiment/resolved.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "boba/attacks/registry.h"
#include "boba/core/spec.h"
#include "boba/rules/average.h"
#include "boba/rules/registry.h"
#include "boba/text/split.h"
#include "simulator/experiment/keys.h"
#include "simulator/experiment/participation.h"
#include "simulator/partition/registry.h"

namespace boba::sim {
namespace {

constexpr int kMostSamples = 1000000;
constexpr std::string_view kNoAttack = "none";

// "40, 40,20" as numbers; nothing in an empty text.
Result<std::vector<int>> parse_counts(std::string_view key, std::string_view text) {
  std::vector<int> counts;
  if (text.empty()) return counts;
  for (const std::string_view word : split_specs(text)) {
    const Result<int> count = detail::read_value(key, word, 0, kMostSamples, int{});
    if (!count) return invalid_argument(count.error().message + "; write 40,40,20,20");
    counts.push_back(*count);
  }
  return counts;
}

struct Rules {
  Aggregator written;
  Aggregator scaled;
};

Result<Rules> read_rule(const Experiment& experiment) {
  const Result<std::vector<Params>> stages = parse_spec(experiment.rule);
  if (!stages) return stages.error();
  Result<Aggregator> written = make_aggregator(*stages);
  if (!written) return written.error();
  Result<Aggregator> scaled = make_aggregator(scaled_stages(*stages, experiment.federation));
  if (!scaled) return scaled.error();
  return Rules{*std::move(written), *std::move(scaled)};
}

// If both are empty, there is no attack.
struct AttackChoice {
  std::string spec;
  AttackPtr on_updates = {};
  std::optional<LabelFlipOptions> label_flip = {};
};

Result<AttackChoice> read_attack(std::string_view text) {
  const std::string_view name = trimmed(text.substr(0, text.find_first_of("(|+")));
  if (name == kNoAttack || name == LabelFlipOptions::info().name) {
    const Result<Params> stage = parse_single("attack", text);
    if (!stage) return stage.error();
    if (name == kNoAttack) {
      if (stage->values.empty()) return AttackChoice{.spec = stage->name};
      return detail::unknown_option(kNoAttack, stage->values.front().first, {});
    }
    const Result<LabelFlipOptions> flip = bind<LabelFlipOptions>(*stage);
    if (!flip) return flip.error();
    return AttackChoice{.spec = canonical(*flip), .label_flip = *flip};
  }
  if (const Result<Params> stage = parse_single("attack", text);
      stage && find_entry(attacks(), name) == nullptr) {
    std::vector<std::string_view> names = {kNoAttack, LabelFlipOptions::info().name};
    for (const std::string_view known : entry_names(attacks())) names.push_back(known);
    return unknown_name("attack", name, names);
  }
  const Result<NamedAttack> made = make_attack(text);
  if (!made) return made.error();
  return AttackChoice{.spec = made->spec, .on_updates = made->attack};
}

void normalise_server(ResolvedExperiment& e) {
  if (!e.uses_server()) {
    e.server = {
        .per_class = 0, .counts = {}, .noise = "none", .severity = ServerSection().severity};
    return;
  }
  const std::vector<int>& counts = e.server_counts;
  if (e.server.counts.empty()) return;
  const bool equal =
      std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
  if (equal && counts.size() == e.traits.classes) {
    e.server.per_class = counts.front();
    e.server.counts.clear();
  } else {
    e.server.counts = fmt::format("{}", fmt::join(counts, ","));
  }
}

// To the normal form. REQUIRES: the texts of the rule and the attack are canonical.
void normalise(ResolvedExperiment& e) {
  if (!e.is_attacked()) e.federation.byzantine = 0;
  if (!e.aggregator.needs_gram()) e.sketch.reset();
  e.run.gram = print_gram(e.sketch);
  normalise_server(e);
  for (const Key& key : keys()) {
    if (!key.matters(e)) key.reset(e);
  }
}

// Puts the key before the error of its value's reader.
Fault unreadable(std::string_view key, const Error& error) {
  return {{std::string(key)}, fmt::format("{}: {}", key, error.message)};
}

}  // namespace

std::variant<ResolvedExperiment, Fault> try_resolve(const Experiment& written) {
  for (const Key& key : keys()) {
    if (Result<void> good = key.check(written); !good) {
      return Fault{{key.path()}, good.error().message};
    }
  }
  Result<Rules> rule = read_rule(written);
  if (!rule) return unreadable("rule", rule.error());
  Result<AttackChoice> attack = read_attack(written.attack);
  if (!attack) return unreadable("attack", attack.error());
  Result<DatasetTraits> traits = dataset_traits(written.data.set);
  if (!traits) return unreadable("data.set", traits.error());
  const Result<Params> dealing = parse_single("partition", written.data.partition);
  if (!dealing) return unreadable("data.partition", dealing.error());
  Result<NamedPartition> partition = make_partition(*dealing);
  if (!partition) return unreadable("data.partition", partition.error());
  Result<ModelChoice> model = parse_model(written.model.kind);
  if (!model) return unreadable("model.kind", model.error());
  Result<std::optional<SketchOptions>> sketch = parse_gram(written.run.gram);
  if (!sketch) return unreadable("run.gram", sketch.error());
  constexpr std::string_view kCounts = "server.counts";
  Result<std::vector<int>> counts = parse_counts(kCounts, written.server.counts);
  if (!counts) return Fault{{std::string(kCounts)}, counts.error().message};

  ResolvedExperiment resolved{written, std::move(rule->written), std::move(rule->scaled),
                              std::move(attack->on_updates)};
  resolved.label_flip = attack->label_flip;
  resolved.traits = *traits;
  resolved.scheme = partition->scheme;
  resolved.model_choice = *model;
  resolved.sketch = *sketch;
  resolved.server_counts = *std::move(counts);
  resolved.rule = resolved.aggregator.spec();
  resolved.attack = attack->spec;
  resolved.data.set = traits->spec;
  resolved.data.partition = partition->spec;
  resolved.model.kind = model_spec(*model);
  normalise(resolved);
  return resolved;
}

Result<ResolvedExperiment> resolve(const Experiment& written) {
  std::variant<ResolvedExperiment, Fault> resolved = try_resolve(written);
  if (const Fault* fault = std::get_if<Fault>(&resolved)) return invalid_argument(fault->message);
  return std::get<ResolvedExperiment>(std::move(resolved));
}

std::string canonical_text(const ResolvedExperiment& experiment) {
  std::string text;
  for (const Key& key : keys()) {
    if (key.matters(experiment)) {
      text += fmt::format("{} = {}\n", key.path(), key.print(experiment));
    }
  }
  return text;
}

ResolvedExperiment baseline_of(const ResolvedExperiment& experiment) {
  ResolvedExperiment baseline = experiment;
  baseline.aggregator = *make_average({});
  baseline.round_aggregator = baseline.aggregator;
  baseline.rule = baseline.aggregator.spec();
  baseline.attack_on_updates.reset();
  baseline.label_flip.reset();
  baseline.attack = kNoAttack;
  normalise(baseline);
  return baseline;
}

}  // namespace boba::sim
