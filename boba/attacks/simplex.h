// Simplex: an attacker who knows BOBA and sends a corner of the region that it accepts.
//
// BOBA accepts every mix of the class gradients whose shares are p_min or more. That region is a
// simplex too, and its corners are the mixes furthest out: one class has 1 - (c-1) p_min, all
// others p_min. All Byzantine clients send the corner that moves the average most.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct SimplexOptions {
  enum class Aim { kFurthest, kAgainst };
  static constexpr std::array<std::string_view, 2> kAim = {"furthest", "against"};
  enum class Corners { kServer, kLabels };
  static constexpr std::array<std::string_view, 2> kCorners = {"server", "labels"};

  double p_min = -0.5;       // of the rule that is attacked
  int classes = 0;           // 0: the server's gradients are known; else corners to look for
  double margin = 0.001;     // how far inside the accepted region; below 0 is outside
  Aim aim = Aim::kFurthest;  // furthest from the honest mean, or most against its direction
  Corners corners = Corners::kServer;  // the class gradients, unless classes are looked for

  static constexpr Info info() {
    return {
        .name = "simplex",
        .summary = "the mix of class gradients that boba just accepts and that moves it most",
        .computes =
            "Every Byzantine client sends one mix of the class gradients: one class has the share "
            "1 - (c-1) q and all others q = p_min + margin, the outermost that boba accepts. The "
            "class is the one that takes the mix furthest from the honest mean, or with "
            "aim=against the one whose difference from the mean points most against it. The class "
            "gradients are the server's, with corners=labels those that explain the honest "
            "updates by their true label mixes, or with classes=c the c honest updates that "
            "successive projection finds at the corners.",
        .condition =
            "Needs the server's class gradients, the honest clients' label mixes (corners=labels), "
            "or classes. Fewer corners than classes are used "
            "where the honest updates span less.",
        .cost = "one norm and one Gram pass, one output pass; c h^2 in n-space",
        .citation =
            "Of this project; the corners by M. C. U. Araujo et al. The successive projections "
            "algorithm for variable selection in spectroscopic multicomponent analysis. "
            "Chemometrics and Intelligent Laboratory Systems 57, 2001.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("p_min", &SimplexOptions::p_min, "least share that the attacked rule accepts")
            .between(-1e6, 0),
        field("classes", &SimplexOptions::classes,
              "corners to look for among the honest updates; 0: the server's gradients")
            .between(0, 1 << 20),
        field("margin", &SimplexOptions::margin, "added to p_min; below 0 is outside the region")
            .between(-1, 1),
        field("aim", &SimplexOptions::aim, "how the class is chosen").one_of(kAim),
        field("corners", &SimplexOptions::corners,
              "class gradients of the server, or of the honest clients' true label mixes")
            .one_of(kCorners)};
  }
};

Result<NamedAttack> make_simplex(const SimplexOptions& options);

}  // namespace boba
