// Noise: makes the attackers' updates differ, so that a rule that looks for copies sees none.
#pragma once

#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct NoiseOptions {
  double size = 0.1;  // norm of the noise, in typical distances to the nearest honest update

  static constexpr Info info() {
    return {
        .name = "noise",
        .summary = "independent noise on each forged update, so that none is a copy",
        .computes =
            "Adds independent normal noise to what each Byzantine client sends. Its expected norm "
            "is size times the typical distance (the median) from an honest update to the nearest "
            "other one. The verdict calls two updates copies if they are within 0.1 of that "
            "distance, so the default is just enough.",
        .condition = "Needs at least one honest update, and what the attack needs.",
        .cost = "one norm and one Gram pass over the honest updates, one write of each forged row",
        .citation = "Of this project.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{field("size", &NoiseOptions::size,
                            "norm of the noise, in typical distances to the nearest honest update")
                          .between(0, 1e6)};
  }
};

Result<NamedAttackStage> make_noise(const NoiseOptions& options);

}  // namespace boba
