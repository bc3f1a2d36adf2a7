// The screen refuses clients so far out that floating point would lose digits of the others.
//
// Sums of far rows cancel: the sum of A and -A + delta keeps little of delta, and a rule that
// trusts the rest can be steered. The n - f nearest clients set the scale, so at most f are
// refused, and the remaining sums are as accurate as the honest rows allow. docs/numerics.md has
// the bounds.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "boba/core/round.h"

namespace boba {

// The usual limit. Distances to clients within it are right relative to themselves.
inline constexpr double kFarthest = 0x1p26;

struct Screen {
  std::vector<Refusal> refused;  // positions, rising
  double farthest = 0;           // of those that stay, over the scale; 0 where the scale is 0
};

// squares[i] is the squared distance of client i from a centre; measure names it in the reasons.
// The scale is the (n - f)-th smallest distance. Clients beyond limit times the scale are refused.
// Without an honest majority, 2f >= n, nothing tells who is far out, and nobody is refused.
Screen screen(std::span<const double> squares, std::size_t f, double limit,
              std::string_view measure);

}  // namespace boba
