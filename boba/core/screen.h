// The screen: clients so far out that their numbers would cost the others' digits are refused, like
// clients that send NaN.
//
// Sums of far rows cancel: of A and -A + delta, little of delta is left in floating point, and a
// rule that trusts what is left can be steered. The n - f nearest clients set the scale, so at most
// f are refused, and what remains is as accurate as the honest rows allow. docs/numerics.md has the
// bounds.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "boba/core/round.h"

namespace boba {

struct Screen {
  std::vector<Refusal> refused;  // positions, rising
  double farthest = 0;           // of those that stay, over the scale; 0 where the scale is 0
};

// squares[i] is the squared distance of client i from a centre; measure names it in the reasons.
// The scale is the (n - f)-th smallest distance. Clients beyond limit times the scale are refused.
// Without an honest majority, 2f >= n, nothing says who is far, and nobody is.
Screen screen(std::span<const double> squares, std::size_t f, double limit,
              std::string_view measure);

}  // namespace boba
