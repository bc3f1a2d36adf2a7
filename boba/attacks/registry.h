// The attacks by name. Adding one is adding a line to the table in registry.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "boba/core/attack.h"
#include "boba/core/options.h"

namespace boba {

// An attack, or a stage behind it, and its canonical spelling.
struct NamedAttack {
  AttackPtr attack;
  std::string spec;
};
struct NamedAttackStage {
  AttackStage stage;
  std::string spec;
};

using AttackEntry = Entry<NamedAttack>;
using AttackStageEntry = Entry<NamedAttackStage>;

std::span<const AttackEntry> attacks();
std::span<const AttackStageEntry> attack_stages();

// "ipm(gamma=10)"; "ipm | noise | sleeper(rounds=50)": any number of stages behind an attack;
// "ipm + lie": the Byzantine clients are dealt to the attacks evenly, the first attack first.
Result<NamedAttack> make_attack(std::string_view spec);

}  // namespace boba
