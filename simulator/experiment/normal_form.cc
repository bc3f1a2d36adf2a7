#include "simulator/experiment/normal_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boba/attacks/registry.h"
#include "boba/core/sketch.h"
#include "boba/core/spec.h"
#include "boba/text/split.h"
#include "boba/rules/registry.h"
#include "boba/text/names.h"
#include "boba/text/printable.h"
#include "simulator/data/catalogue.h"
#include "simulator/experiment/keys.h"
#include "simulator/experiment/label_flip.h"
#include "simulator/experiment/model_options.h"
#include "simulator/partition/registry.h"

namespace boba::sim {
namespace {

constexpr int kMostSamples = 1000000;
constexpr std::size_t kMostClasses = 65536;

void canonicalise_server(Experiment& experiment) {
  ServerSection& server = experiment.server;
  const bool readable = make_aggregator(experiment.rule).ok();
  if (readable && !uses_server(experiment.rule) && !attack_uses_server(experiment.attack)) {
    server = {.per_class = 0, .counts = {}, .noise = "none", .severity = ServerSection().severity};
    return;
  }
  const Result<std::vector<int>> counts = parse_counts(server.counts);
  if (server.counts.empty() || !counts) return;
  const bool equal =
      std::adjacent_find(counts->begin(), counts->end(), std::not_equal_to<>()) == counts->end();
  const Result<DatasetTraits> traits = dataset_traits(experiment.data.set);
  if (equal && traits && traits->classes == counts->size()) {
    server.per_class = counts->front();
    server.counts.clear();
  } else {
    server.counts = fmt::format("{}", fmt::join(*counts, ","));
  }
}

}  // namespace

Experiment normal_form(Experiment experiment) {
  if (const auto rule = make_aggregator(experiment.rule)) experiment.rule = rule->spec();
  if (const auto attack = canonical_attack(experiment.attack)) experiment.attack = *attack;
  if (const auto set = canonical_dataset(experiment.data.set)) experiment.data.set = *set;
  if (const auto dealt = make_partition(experiment.data.partition)) {
    experiment.data.partition = dealt->spec;
  }
  if (const auto model = parse_model(experiment.model.kind)) {
    experiment.model.kind = model_spec(*model);
  }
  if (const auto gram = parse_gram(experiment.run.gram)) experiment.run.gram = print_gram(*gram);
  if (experiment.attack == "none") experiment.federation.byzantine = 0;
  canonicalise_server(experiment);
  for (const Key& key : keys()) {
    if (!key.matters(experiment)) key.reset(experiment);
  }
  return experiment;
}

bool uses_server(std::string_view rule) {
  const Result<Aggregator> made = make_aggregator(rule);
  return !made || made->uses_server();
}

bool attack_uses_server(std::string_view attack) {
  const Result<NamedAttack> made = make_attack(attack);
  return made && made->attack->looks_at_server();
}

Result<std::string> canonical_attack(std::string_view attack) {
  const Result<std::vector<Params>> stages = parse_spec(attack);
  if (!stages) return stages.error();
  const Params& params = stages->front();
  if (stages->size() == 1 && params.name == "none") {
    if (params.values.empty()) return params.name;
    return invalid_argument(
        fmt::format("none takes no options; got {}", params.values.front().first));
  }
  const Result<std::optional<LabelFlipOptions>> flip = parse_label_flip(attack);
  if (!flip) return flip.error();
  if (flip->has_value()) return canonical(**flip);

  std::vector<std::string_view> names = {"none", LabelFlipOptions::info().name};
  for (const AttackEntry& entry : attacks()) names.push_back(entry.info.name);
  if (stages->size() == 1 && std::find(names.begin(), names.end(), params.name) == names.end()) {
    const std::string close = suggestion(params.name, names);
    return invalid_argument(fmt::format("no attack '{}'{} attacks are: {}", params.name,
                                        close.empty() ? ";" : close, join(names)));
  }
  Result<NamedAttack> made = make_attack(attack);
  if (!made) return made.error();
  return made->spec;
}

Result<std::vector<int>> parse_counts(std::string_view text) {
  std::vector<int> counts;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view word = trimmed(text.substr(0, comma));
    int count = 0;
    const auto [stop, status] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (word.empty() || status != std::errc() || stop != word.data() + word.size()) {
      return invalid_argument(
          fmt::format("'{}' is not a whole number; write 40,40,20,20", excerpt(word)));
    }
    if (count < 0 || count > kMostSamples) {
      return invalid_argument(fmt::format("{} is outside [0, {}]", count, kMostSamples));
    }
    counts.push_back(count);
    if (counts.size() > kMostClasses || comma == text.npos) return counts;
    text = text.substr(comma + 1);
  }
}

}  // namespace boba::sim
