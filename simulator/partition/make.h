// How a partition's factory ends: check the options, build the scheme, name it.
#pragma once

#include <memory>

#include "boba/core/options.h"
#include "simulator/partition/registry.h"

namespace boba::sim {

template <class SchemeClass, class Options>
Result<NamedPartition> make_named(const Options& options) {
  if (Result<void> good = check_options(options); !good) return good.error();
  return NamedPartition{std::make_shared<SchemeClass>(options), canonical(options)};
}

}  // namespace boba::sim
