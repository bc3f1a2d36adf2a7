// The attacks by name. Adding one is adding a line to the table in registry.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "boba/core/attack.h"
#include "boba/core/options.h"

namespace boba {

// An attack and its canonical spelling.
struct NamedAttack {
  AttackPtr attack;
  std::string spec;
};

using AttackEntry = Entry<NamedAttack>;

std::span<const AttackEntry> attacks();

// "ipm(gamma=10)".
Result<NamedAttack> make_attack(std::string_view spec);

}  // namespace boba
