// Min-max: the honest mean, moved along the standard deviation until its largest distance to an
// honest update is the largest distance between two of them.
//
// V. Shejwalkar, A. Houmansadr. Manipulating the Byzantine: Optimizing Model Poisoning Attacks and
// Defenses for Federated Learning. NDSS 2021.
#pragma once

#include <tuple>

#include "boba/attacks/parts.h"
#include "boba/attacks/registry.h"

namespace boba {

struct MinmaxOptions {
  double gamma_init = 10;    // where the search for gamma begins; its first step is half of it
  double tau = 1e-5;         // the search ends when gamma is known this well
  Sign sign = Sign::kMinus;  // mean - gamma * std or mean + gamma * std

  static constexpr Info info() {
    return {
        .name = "minmax",
        .summary = "the honest mean moved as far as the widest honest pair",
        .computes =
            "Every Byzantine client sends x = mean - gamma * std of the honest updates, "
            "with the largest gamma that a halving search finds such that max_i |x - g_i| <= "
            "max_ij |g_i - g_j|.",
        .condition = "Needs at least one honest update; with equal ones it sends their mean.",
        .cost = "two moment passes, one product and one Gram pass; h^2 in n-space",
        .citation =
            "V. Shejwalkar, A. Houmansadr. Manipulating the Byzantine: Optimizing Model "
            "Poisoning Attacks and Defenses for Federated Learning. NDSS 2021.",
        .python = "MinMax",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("gamma_init", &MinmaxOptions::gamma_init, "where the search for gamma begins")
            .between(1e-9, 1e9),
        field("tau", &MinmaxOptions::tau, "how well gamma is searched for").between(1e-12, 1),
        field("sign", &MinmaxOptions::sign, "side of the mean").one_of(kSigns)};
  }
};

Result<NamedAttack> make_minmax(const MinmaxOptions& options);

}  // namespace boba
