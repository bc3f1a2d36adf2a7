// Inside: an attacker who knows boba-hull and stays within every test of it for ever.
//
// boba-hull accepts a client near the simplex of the class gradients whose label mix stays the
// same. A client that always sends one corner of the simplex does that, and no rule that knows the
// rows alone can tell it from an honest client with data of this class. The test of distance leaves
// it some room beyond the corner.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct InsideOptions {
  enum class Aim { kFurthest, kAgainst };
  static constexpr std::array<std::string_view, 2> kAim = {"furthest", "against"};

  int corner = 0;            // -1: chosen in each round
  double reach = 3.5;        // beyond the corner, in typical distances of honest clients
  Aim aim = Aim::kFurthest;  // where beyond the corner, and which corner if none is given
  double speed = 1;          // share of the way from the mean to the corner in a round

  static constexpr Info info() {
    return {
        .name = "inside",
        .summary =
            "a corner of the honest simplex for ever, and as far beyond it as boba-hull allows",
        .computes =
            "Every Byzantine client sends the gradient of one class, moved by reach times the "
            "typical distance (the median) of honest updates from the simplex of the class "
            "gradients: away from the honest mean, or with aim=against along minus the mean. With "
            "corner=-1 the class is chosen in each round: the one farthest from the mean, or most "
            "against it. With speed below 1 the clients begin at the honest mean and go that share "
            "of the way to the corner in each round, so that their label mix drifts. The class "
            "gradients are those that explain the honest updates by their true label mixes, if "
            "these are known, and else the server's.",
        .condition = "Needs the honest clients' label mixes, or the server's class gradients.",
        .cost = "one norm and one Gram pass, one output pass; c h^2 in n-space",
        .citation = "Of this project.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("corner", &InsideOptions::corner,
              "the class whose gradient is sent; -1: chosen in each round")
            .between(-1, 1 << 20),
        field("reach", &InsideOptions::reach,
              "distance beyond the corner, in typical distances of honest updates")
            .between(0, 1e6),
        field("aim", &InsideOptions::aim, "the direction beyond the corner").one_of(kAim),
        field("speed", &InsideOptions::speed,
              "share of the way from the honest mean to the corner in a round; 1: there at once")
            .between(0, 1)};
  }
};

Result<NamedAttack> make_inside(const InsideOptions& options);

}  // namespace boba
