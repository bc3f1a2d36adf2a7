// Parts that attacks share: the side of the honest mean, what they ask of the honest updates, and
// how one row reaches all.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "boba/core/attack.h"

namespace boba {

// On which side of the honest mean an attack stands. Attacks written down for parameters w - eta *
// g point the other way in gradient space.
enum class Sign { kMinus, kPlus };
inline constexpr std::array<std::string_view, 2> kSigns = {"minus", "plus"};

inline double factor(Sign sign) { return sign == Sign::kMinus ? -1 : 1; }

// An error that quotes the attack when there is no honest update.
Result<void> needs_honest(std::string_view attack, const UpdateView& honest);

// An error that names the first honest row with NaN or infinity. scan is one entry per row.
Result<void> needs_finite(std::string_view attack, std::span<const RowScan> scan);

// Copies out[0] to the other rows.
void send_first_to_all(const Kernels& kernels, std::span<const MutableRow> out);

// The measures, and "overflow" where the forged numbers left the range of their type: they are
// sent as they are, and the server has to refuse them.
AttackReport report(std::vector<NamedValue> measures, const OutputPass& pass);

}  // namespace boba
