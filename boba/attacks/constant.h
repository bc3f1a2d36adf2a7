// Constants: updates that are NaN, infinite or zero in every coordinate. A rule that lets NaN or
// infinity through destroys the model; zero is what a client sends that does no work.
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
        .python = "NaN",
    };
  }
  static constexpr auto fields() { return std::tuple<>(); }
};

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

Result<NamedAttack> make_nan(const NanOptions& options);
Result<NamedAttack> make_inf(const InfOptions& options);
Result<NamedAttack> make_zero(const ZeroOptions& options);

}  // namespace boba
