// NaN: updates that are not numbers. A rule that lets one through destroys the model.
#pragma once

#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct NanOptions {
  static constexpr Info info() {
    return {
        .name = "nan",
        .summary = "all NaN",
        .computes =
            "Every Byzantine client sends NaN in every coordinate; a server that does not refuse "
            "it loses its model.",
        .condition = "None.",
        .cost = "one write of each forged row",
        .citation = "None; a test of the server's checks.",
    };
  }
  static constexpr auto fields() { return std::tuple<>(); }
};

Result<NamedAttack> make_nan(const NanOptions& options);

}  // namespace boba
