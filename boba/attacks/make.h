// How an attack's factory ends: check the options, build the attack, name it.
#pragma once

#include <memory>

#include "boba/attacks/registry.h"
#include "boba/core/options.h"

namespace boba {

template <class AttackClass, class Options>
Result<NamedAttack> make_named(const Options& options) {
  if (Result<void> good = check_options(options); !good) return good.error();
  return NamedAttack{std::make_shared<AttackClass>(options), canonical(options)};
}

}  // namespace boba
