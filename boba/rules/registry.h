// The rules and stages by name. Adding one is adding a line to the tables in registry.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

// A stage and its canonical spelling.
struct NamedMix {
  MixStagePtr stage;
  std::string spec;
};
struct NamedBlend {
  BlendStagePtr stage;
  std::string spec;
};

using RuleEntry = Entry<Aggregator>;
using MixEntry = Entry<NamedMix>;
using BlendEntry = Entry<NamedBlend>;

std::span<const RuleEntry> rules();
std::span<const MixEntry> mix_stages();      // may stand before a rule
std::span<const BlendEntry> blend_stages();  // may stand after it

// "bucketing(s=2) | krum(f=16) | server-mix(lambda=0.25)": any number of mix stages, one rule, any
// number of blend stages.
Result<Aggregator> make_aggregator(std::string_view spec);
Result<Aggregator> make_aggregator(std::span<const Params> stages);

}  // namespace boba
