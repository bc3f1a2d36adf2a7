// Multi-Krum: the mean of the m = n - f updates with the lowest Krum scores, scored once.
//
// P. Blanchard, E. M. El Mhamdi, R. Guerraoui, J. Stainer. Machine Learning with Adversaries:
// Byzantine Tolerant Gradient Descent. NeurIPS 2017. The guarantee needs n >= 2f + 3.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct MkrumOptions {
  int f = 0;           // Byzantine clients tolerated; the guarantee needs n >= 2f + 3
  int m = 0;           // updates averaged; 0 is n - f
  int neighbours = 0;  // nearest others that score a client; 0 is n - f - 2

  static constexpr Info info() {
    return {
        .name = "mkrum",
        .summary = "mean of the updates closest to their neighbours",
        .computes =
            "Each client's score is the sum of its squared distances to its n - f - 2 "
            "nearest others; the m = n - f updates with the lowest scores are averaged.",
        .condition =
            "Needs n - f - 2 >= 1 and m <= n; guaranteed for n >= 2f + 3 when honest "
            "clients look alike.",
        .cost = "one Gram pass, one output pass; n^2 log n in n-space",
        .citation =
            "P. Blanchard, E. M. El Mhamdi, R. Guerraoui, J. Stainer. Machine Learning "
            "with Adversaries: Byzantine Tolerant Gradient Descent. NeurIPS 2017.",
        .python = "MultiKrum",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &MkrumOptions::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("m", &MkrumOptions::m, "updates averaged; 0: n - f").between(0, 1 << 20),
        field("neighbours", &MkrumOptions::neighbours, "nearest others that score; 0: n - f - 2")
            .between(0, 1 << 20)};
  }
};

Result<Aggregator> make_mkrum(const MkrumOptions& options);

}  // namespace boba
