// A little is enough: the honest mean, shifted by z standard deviations in every coordinate.
//
// G. Baruch, M. Baruch, Y. Goldberg. A Little Is Enough: Circumventing Defenses For Distributed
// Learning. NeurIPS 2019.
#pragma once

#include <cstddef>
#include <tuple>

#include "boba/attacks/parts.h"
#include "boba/attacks/registry.h"

namespace boba {

struct LieOptions {
  double z = 0;              // standard deviations; 0: the largest that still wins a median
  Sign sign = Sign::kMinus;  // mean - z * std or mean + z * std

  static constexpr Info info() {
    return {
        .name = "lie",
        .summary = "the honest mean shifted by z standard deviations",
        .computes =
            "Every Byzantine client sends mean - z * std of the honest updates, per "
            "coordinate, std with h - 1. With z=0, z is the normal quantile of "
            "(n - floor(n/2 + 1)) / (n - b), where n = h + b.",
        .condition = "Needs at least one honest update; z=0 needs b <= floor(n/2) and n >= 3.",
        .cost = "one pass over the honest updates",
        .citation =
            "G. Baruch, M. Baruch, Y. Goldberg. A Little Is Enough: Circumventing Defenses "
            "For Distributed Learning. NeurIPS 2019.",
        .python = "ALittleIsEnough",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("z", &LieOptions::z, "standard deviations; 0: the definition's quantile")
            .between(0, 1e30),
        field("sign", &LieOptions::sign, "side of the mean").one_of(kSigns)};
  }
};

Result<NamedAttack> make_lie(const LieOptions& options);

// The quantile for h honest and b Byzantine clients: fails where it is not a finite number.
Result<double> lie_z(std::size_t h, std::size_t b);

}  // namespace boba
