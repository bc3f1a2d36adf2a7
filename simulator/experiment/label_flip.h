// Label flipping: Byzantine clients train like the others, on examples with false labels. It is an
// attack on the data, so the simulator carries it out and the registry of attacks does not know it.
//
// V. Tolpegin, S. Truex, M. E. Gursoy, L. Liu. Data Poisoning Attacks Against Federated Learning
// Systems. ESORICS 2020.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "boba/core/options.h"

namespace boba::sim {

struct LabelFlipOptions {
  enum class Mode { kMirror, kNext };
  static constexpr std::array<std::string_view, 2> kMode = {"mirror", "next"};

  Mode mode = Mode::kMirror;

  static constexpr Info info() {
    return {
        .name = "labelflip",
        .summary = "honest training on false labels",
        .computes =
            "Every Byzantine client trains as it is asked to, on examples whose label z was "
            "changed to c - 1 - z (mirror) or to z + 1, after the last class 0 (next).",
        .condition = "Needs a simulation: it changes data, not updates.",
        .cost = "the training of one more client for each",
        .citation =
            "V. Tolpegin, S. Truex, M. E. Gursoy, L. Liu. Data Poisoning Attacks Against "
            "Federated Learning Systems. ESORICS 2020.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("mode", &LabelFlipOptions::mode, "what label z becomes: c - 1 - z, or z + 1")
            .one_of(kMode)};
  }

  // REQUIRES: label < classes.
  constexpr std::size_t flip(std::size_t label, std::size_t classes) const {
    return mode == Mode::kMirror ? classes - 1 - label : (label + 1) % classes;
  }
};

}  // namespace boba::sim
