// Krum: the update whose n - f - 2 nearest neighbours are closest.
//
// P. Blanchard, E. M. El Mhamdi, R. Guerraoui, J. Stainer. Machine Learning with Adversaries:
// Byzantine Tolerant Gradient Descent. NeurIPS 2017.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct KrumOptions {
  int f = 0;           // Byzantine clients tolerated; the guarantee needs n >= 2f + 3
  int neighbours = 0;  // nearest others that score a client; 0 is n - f - 2

  static constexpr Info info() {
    return {
        .name = "krum",
        .summary = "the update closest to its neighbours",
        .computes =
            "Each client's score is the sum of its squared distances to its n - f - 2 "
            "nearest others; the update with the lowest score is the result.",
        .condition =
            "Needs n - f - 2 >= 1; guaranteed for n >= 2f + 3 when honest clients look "
            "alike.",
        .cost = "one Gram pass, one output pass; n^2 log n in n-space",
        .citation =
            "P. Blanchard, E. M. El Mhamdi, R. Guerraoui, J. Stainer. Machine Learning "
            "with Adversaries: Byzantine Tolerant Gradient Descent. NeurIPS 2017.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &KrumOptions::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("neighbours", &KrumOptions::neighbours, "nearest others that score; 0: n - f - 2")
            .between(0, 1 << 20)};
  }
};

Result<Aggregator> make_krum(const KrumOptions& options);

}  // namespace boba
