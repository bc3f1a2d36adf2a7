// iid: the examples in random order, cut into equal pieces.
#pragma once

#include <tuple>

#include "simulator/partition/registry.h"

namespace boba::sim {

struct IidOptions {
  static constexpr Info info() {
    return {
        .name = "iid",
        .summary = "a random equal share of everything",
        .computes =
            "All examples are put into a random order, drawn with the seed, and cut into pieces "
            "whose sizes differ by at most one.",
        .condition = "As many examples as clients.",
        .cost = "one permutation of the examples",
        .citation =
            "H. B. McMahan, E. Moore, D. Ramage, S. Hampson, B. Agüera y Arcas. "
            "Communication-Efficient Learning of Deep Networks from Decentralized Data. AISTATS "
            "2017.",
    };
  }
  static constexpr auto fields() { return std::tuple{}; }
};

Result<NamedPartition> make_iid(const IidOptions& options = {});

}  // namespace boba::sim
