// Average: the mean of all updates, each weighing the same. Tolerates no Byzantine client.
//
// B. McMahan, E. Moore, D. Ramage, S. Hampson, B. Aguera y Arcas. Communication-Efficient Learning
// of Deep Networks from Decentralized Data. AISTATS 2017.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct AverageOptions {
  static constexpr Info info() {
    return {
        .name = "average",
        .summary = "mean of all updates",
        .computes =
            "The mean of all updates. Each client weighs the same, whatever number of "
            "samples it claims.",
        .condition = "Needs n >= 1; tolerates no Byzantine client.",
        .cost = "one output pass",
        .citation =
            "B. McMahan, E. Moore, D. Ramage, S. Hampson, B. Aguera y Arcas. "
            "Communication-Efficient Learning of Deep Networks from Decentralized Data. "
            "AISTATS 2017.",
    };
  }
  static constexpr auto fields() { return std::tuple{}; }
};

Result<Aggregator> make_average(const AverageOptions& options);

}  // namespace boba
