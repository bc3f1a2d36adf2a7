// Infinity: updates without bound. A rule that lets one through destroys the model.
#pragma once

#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct InfOptions {
  static constexpr Info info() {
    return {
        .name = "inf",
        .summary = "all infinite",
        .computes =
            "Every Byzantine client sends infinity in every coordinate; a server that does not "
            "refuse it loses its model.",
        .condition = "None.",
        .cost = "one write of each forged row",
        .citation = "None; a test of the server's checks.",
    };
  }
  static constexpr auto fields() { return std::tuple<>(); }
};

Result<NamedAttack> make_inf(const InfOptions& options);

}  // namespace boba
