// A verdict for people: what `boba aggregate` and Python print. What came from clients passes
// through printable().
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "boba/core/verdict.h"

namespace boba {

// "boba(f=16) accepted 100 of 115 updates, refused 1".
std::string headline(const Verdict& verdict);

// The headline with remark after it; warnings, notes, and what the rule knows about the round; a
// line for each client.
std::string verdict_text(const Verdict& verdict, std::string_view remark = "");

// One line for each of the clients; the reasons make long lines.
enum class Reasons { kShown, kLeftOut };
std::string clients_text(std::span<const ClientVerdict> clients, Reasons reasons = Reasons::kShown);

}  // namespace boba
