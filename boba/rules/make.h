// How a rule's factory ends: check the options, build the rule, name it.
#pragma once

#include <memory>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

template <class RuleClass, class Options>
Result<Aggregator> make_rule(const Options& options) {
  if (Result<void> good = check_options(options); !good) return good.error();
  return Aggregator(std::make_shared<RuleClass>(options), canonical(options));
}

}  // namespace boba
