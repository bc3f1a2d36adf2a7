// Coordinate-wise median: each coordinate of the result is the median of the clients' values.
//
// D. Yin, Y. Chen, K. Ramchandran, P. Bartlett. Byzantine-Robust Distributed Learning: Towards
// Optimal Statistical Rates. ICML 2018. Stays among the honest values while fewer than half of the
// clients are Byzantine.
#pragma once

#include <string_view>
#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

enum class EvenMedian { kMean, kLower };
inline constexpr std::string_view kEvenMedianNames[] = {"mean", "lower"};

struct CoomedOptions {
  EvenMedian even = EvenMedian::kMean;  // of an even number: mean of the middle two, or the lower

  static constexpr Info info() {
    return {
        .name = "coomed",
        .summary = "median of each coordinate",
        .computes =
            "Each coordinate of the result is the median of the clients' values; of an "
            "even number of values it is the mean of the middle two, or the lower one.",
        .condition = "Needs n >= 1; each coordinate stays among the honest values for n > 2f.",
        .cost = "one pass over tiles of the updates, which sorts each coordinate",
        .citation =
            "D. Yin, Y. Chen, K. Ramchandran, P. Bartlett. Byzantine-Robust Distributed "
            "Learning: Towards Optimal Statistical Rates. ICML 2018.",
        .python = "Median",
    };
  }
  static constexpr auto fields() {
    return std::tuple{field("even", &CoomedOptions::even,
                            "median of an even number: mean of the middle two, or the lower")
                          .one_of(kEvenMedianNames)};
  }
};

Result<Aggregator> make_coomed(const CoomedOptions& options);

}  // namespace boba
