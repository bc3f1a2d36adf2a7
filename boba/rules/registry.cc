#include "boba/rules/registry.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "boba/rules/average.h"
#include "boba/rules/avgrej.h"
#include "boba/rules/b_krum.h"
#include "boba/rules/boba.h"
#include "boba/rules/boba_hull.h"
#include "boba/rules/bucketing.h"
#include "boba/rules/bygars.h"
#include "boba/rules/coomed.h"
#include "boba/rules/fltrust.h"
#include "boba/rules/geomed.h"
#include "boba/rules/krum.h"
#include "boba/rules/mkrum.h"
#include "boba/rules/rage.h"
#include "boba/rules/selfrej.h"
#include "boba/rules/server.h"
#include "boba/rules/server_mix.h"
#include "boba/rules/trmean.h"
#include "boba/rules/zeno.h"
#include "boba/text/names.h"

namespace boba {
namespace {

constexpr RuleEntry kRules[] = {
    entry<AverageOptions, Aggregator, make_average>(),
    entry<ServerOptions, Aggregator, make_server>(),
    entry<CoomedOptions, Aggregator, make_coomed>(),
    entry<TrmeanOptions, Aggregator, make_trmean>(),
    entry<KrumOptions, Aggregator, make_krum>(),
    entry<MkrumOptions, Aggregator, make_mkrum>(),
    entry<GeomedOptions, Aggregator, make_geomed>(),
    entry<SelfrejOptions, Aggregator, make_selfrej>(),
    entry<AvgrejOptions, Aggregator, make_avgrej>(),
    entry<ZenoOptions, Aggregator, make_zeno>(),
    entry<FltrustOptions, Aggregator, make_fltrust>(),
    entry<BygarsOptions, Aggregator, make_bygars>(),
    entry<RageOptions, Aggregator, make_rage>(),
    entry<BobaOptions, Aggregator, make_boba>(),
    entry<BobaEsOptions, Aggregator, make_boba_es>(),
    entry<BobaNoStage1Options, Aggregator, make_boba_no_stage1>(),
    entry<BobaNoStage2Options, Aggregator, make_boba_no_stage2>(),
    entry<BobaHullOptions, Aggregator, make_boba_hull>(),
    entry<BKrumOptions, Aggregator, make_b_krum>(),
    entry<BMkrumOptions, Aggregator, make_b_mkrum>(),
};

constexpr MixEntry kMixStages[] = {
    entry<BucketingOptions, NamedMix, make_bucketing>(),
};

constexpr BlendEntry kBlendStages[] = {
    entry<ServerMixOptions, NamedBlend, make_server_mix>(),
};

Error unknown(std::string_view name) {
  std::vector<std::string_view> all = entry_names(rules());
  const std::string known = join(all);
  const auto before = entry_names(mix_stages());
  const auto after = entry_names(blend_stages());
  all.insert(all.end(), before.begin(), before.end());
  all.insert(all.end(), after.begin(), after.end());
  return invalid_argument(
      fmt::format("no rule '{}'{} rules are: {}; stages before a rule: {}; after it: {}", name,
                  suggestion(name, all).empty() ? ";" : suggestion(name, all), known, join(before),
                  join(after)));
}

// The parts of a spec, each in its place.
struct Parts {
  std::vector<NamedMix> mixes;
  std::vector<Aggregator> rule;  // at most one
  std::vector<NamedBlend> blends;
};

Result<void> add(const Params& stage, Parts& parts) {
  if (const MixEntry* entry = find_entry(mix_stages(), stage.name)) {
    if (!parts.rule.empty()) {
      return invalid_argument(fmt::format("{0} must come before the rule: write '{0} | {1}'",
                                          stage.name, parts.rule.front().spec()));
    }
    Result<NamedMix> mix = entry->make(stage);
    if (!mix) return mix.error();
    parts.mixes.push_back(*std::move(mix));
    return {};
  }
  if (const BlendEntry* entry = find_entry(blend_stages(), stage.name)) {
    if (parts.rule.empty()) {
      return invalid_argument(
          fmt::format("{0} must come after a rule: write 'average | {0}'", stage.name));
    }
    Result<NamedBlend> blend = entry->make(stage);
    if (!blend) return blend.error();
    parts.blends.push_back(*std::move(blend));
    return {};
  }
  const RuleEntry* entry = find_entry(rules(), stage.name);
  if (entry == nullptr) return unknown(stage.name);
  if (!parts.rule.empty()) {
    return invalid_argument(fmt::format("{} and {} are both rules; a spec has one",
                                        parts.rule.front().spec(), stage.name));
  }
  Result<Aggregator> rule = entry->make(stage);
  if (!rule) return rule.error();
  parts.rule.push_back(*std::move(rule));
  return {};
}

}  // namespace

std::span<const RuleEntry> rules() { return kRules; }
std::span<const MixEntry> mix_stages() { return kMixStages; }
std::span<const BlendEntry> blend_stages() { return kBlendStages; }

Result<Aggregator> make_aggregator(std::string_view spec) {
  const Result<std::vector<Params>> stages = parse_spec(spec);
  if (!stages) return stages.error();
  return make_aggregator(*stages);
}

Result<Aggregator> make_aggregator(std::span<const Params> stages) {
  Parts parts;
  for (const Params& stage : stages) {
    if (Result<void> added = add(stage, parts); !added) return added.error();
  }
  if (parts.rule.empty()) {
    return invalid_argument(fmt::format(
        "spec '{0}' has no rule; write '{0} | krum(f=1)' or another rule", print_spec(stages)));
  }
  Aggregator result = parts.rule.front();
  // after() puts a stage in front of those that are there.
  for (auto mix = parts.mixes.rbegin(); mix != parts.mixes.rend(); ++mix) {
    result = result.after(mix->stage, mix->spec);
  }
  for (const NamedBlend& blend : parts.blends) result = result.before(blend.stage, blend.spec);
  return result;
}

}  // namespace boba
