// How a factory ends: check the options, build the rule or stage, name it.
#pragma once

#include <memory>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"
#include "boba/rules/stage.h"

namespace boba {

template <class RuleClass, class Options>
Result<Aggregator> make_rule(const Options& options) {
  if (Result<void> good = check_options(options); !good) return good.error();
  return Aggregator(std::make_shared<RuleClass>(options), canonical(options));
}

// Named is NamedMix or NamedBlend.
template <class Named, class StageClass, class Options>
Result<Named> make_stage(const Options& options) {
  if (Result<void> good = check_options(options); !good) return good.error();
  return Named{std::make_shared<StageClass>(options), canonical(options)};
}

}  // namespace boba
