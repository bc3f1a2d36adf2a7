// A verdict for people.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "boba/core/verdict.h"

namespace boba::tools {

// "boba(f=16) accepted 100 of 115 updates, refused 1".
std::string headline(const Verdict& verdict);

// Warnings, notes, what the rule knows about the round, and BOBA's subspace with its guarantee.
std::string round_text(const Verdict& verdict);

// One line for each of the clients; the reasons make long lines.
enum class Reasons { kShown, kLeftOut };
std::string clients_text(std::span<const ClientVerdict> clients, Reasons reasons = Reasons::kShown);

// The two largest shares and the least: "3: 52%, 7: 46%, min -1%".
std::string label_mix_text(std::span<const double> shares);

}  // namespace boba::tools
