// Trimmed mean: per coordinate, the mean without the f largest and the f smallest values.
//
// D. Yin, Y. Chen, K. Ramchandran, P. Bartlett. Byzantine-Robust Distributed Learning: Towards
// Optimal Statistical Rates. ICML 2018. Needs n > 2f; then it stays among the honest values.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct TrmeanOptions {
  int f = 0;  // Byzantine clients tolerated: values dropped at each end

  static constexpr Info info() {
    return {
        .name = "trmean",
        .summary = "mean without the f extremes of each coordinate",
        .computes =
            "In each coordinate the f largest and the f smallest values are dropped and "
            "the rest is averaged.",
        .condition = "Needs n > 2f; then each coordinate stays among the honest values.",
        .cost = "one pass over tiles of the updates, which sorts each coordinate",
        .citation =
            "D. Yin, Y. Chen, K. Ramchandran, P. Bartlett. Byzantine-Robust Distributed "
            "Learning: Towards Optimal Statistical Rates. ICML 2018.",
        .python = "TrMean",
        .python_alias = "TrimmedMean",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &TrmeanOptions::f, "Byzantine clients tolerated").between(0, 1 << 20)};
  }
};

Result<Aggregator> make_trmean(const TrmeanOptions& options);

}  // namespace boba
