// Min-sum: the honest mean, moved along the standard deviation until its summed squared distances
// to the honest updates are those of the outermost of them.
//
// V. Shejwalkar, A. Houmansadr. Manipulating the Byzantine: Optimizing Model Poisoning Attacks and
// Defenses for Federated Learning. NDSS 2021.
#pragma once

#include <tuple>

#include "boba/attacks/parts.h"
#include "boba/attacks/registry.h"

namespace boba {

struct MinsumOptions {
  double gamma_init = 10;    // where the search for gamma begins; its first step is half of it
  double tau = 1e-5;         // the search ends when gamma is known this well
  Sign sign = Sign::kMinus;  // mean - gamma * std or mean + gamma * std

  static constexpr Info info() {
    return {
        .name = "minsum",
        .summary = "the honest mean moved as far as the widest sum of honest distances",
        .computes =
            "Every Byzantine client sends x = mean - gamma * std of the honest updates, "
            "with the largest gamma that a halving search finds such that sum_i |x - g_i|^2 <= "
            "max_i sum_j |g_i - g_j|^2.",
        .condition = "Needs at least one honest update; with equal ones it sends their mean.",
        .cost = "two moment passes, one product and one Gram pass; h^2 in n-space",
        .citation =
            "V. Shejwalkar, A. Houmansadr. Manipulating the Byzantine: Optimizing Model "
            "Poisoning Attacks and Defenses for Federated Learning. NDSS 2021.",
        .python = "MinSum",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("gamma_init", &MinsumOptions::gamma_init, "where the search for gamma begins")
            .between(1e-9, 1e9),
        field("tau", &MinsumOptions::tau, "how well gamma is searched for").between(1e-12, 1),
        field("sign", &MinsumOptions::sign, "side of the mean").one_of(kSigns)};
  }
};

Result<NamedAttack> make_minsum(const MinsumOptions& options);

}  // namespace boba
