// The normal form of an experiment: runs that give the same numbers have the same one.
#pragma once

#include <string_view>

#include "boba/core/result.h"
#include "simulator/experiment/experiment.h"

namespace boba::sim {

// Specs in their canonical spelling; no Byzantine clients where nobody attacks; no server data
// where neither rule nor attack has a use for them; keys that bear on nothing at their defaults.
// What cannot be read stays as it is.
Experiment normal_form(Experiment experiment);

// Whether the rule or a stage of it looks at the server's data.
bool uses_server(std::string_view rule);

// Whether the attackers look at the server's gradients.
bool attack_uses_server(std::string_view attack);

// "none", "labelflip(mode=next)", "ipm": the canonical spelling, or why it is no attack.
Result<std::string> canonical_attack(std::string_view attack);

// "40, 40,20" as numbers. Errors do not name the key.
Result<std::vector<int>> parse_counts(std::string_view text);

}  // namespace boba::sim
