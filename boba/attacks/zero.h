// Zero: updates that are all zero, as a client that does no work sends.
#pragma once

#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct ZeroOptions {
  static constexpr Info info() {
    return {
        .name = "zero",
        .summary = "all zeros",
        .computes =
            "Every Byzantine client sends the zero update: a free rider that slows training down.",
        .condition = "None.",
        .cost = "one write of each forged row",
        .citation = "None; a baseline.",
    };
  }
  static constexpr auto fields() { return std::tuple<>(); }
};

Result<NamedAttack> make_zero(const ZeroOptions& options);

}  // namespace boba
