// On which side of the honest mean an attack stands.
#pragma once

#include <array>
#include <string_view>

namespace boba {

// Attacks written down for parameters w - eta * g point the other way in gradient space.
enum class Sign { kMinus, kPlus };
inline constexpr std::array<std::string_view, 2> kSigns = {"minus", "plus"};

inline double factor(Sign sign) { return sign == Sign::kMinus ? -1 : 1; }

}  // namespace boba
