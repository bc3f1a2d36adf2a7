// shards: the examples sorted by label and cut into shards; each client is dealt a few.
//
// H. B. McMahan, E. Moore, D. Ramage, S. Hampson, B. Agüera y Arcas. Communication-Efficient
// Learning of Deep Networks from Decentralized Data. AISTATS 2017.
#pragma once

#include <tuple>

#include "simulator/partition/registry.h"

namespace boba::sim {

struct ShardsOptions {
  int per_client = 2;  // shards of each client

  static constexpr Info info() {
    return {
        .name = "shards",
        .summary = "a few shards of one class each, dealt at random",
        .computes =
            "The examples, sorted by label, are cut into per_client shards for each client. No "
            "shard has two classes: a class gets shards in proportion to its examples (largest "
            "remainders, at least one) and is cut, in order, into pieces whose sizes differ by at "
            "most one. The shards are dealt at random with the seed.",
        .condition =
            "per_client times clients at most the number of examples and at least the number of "
            "classes that have some.",
        .cost = "one pass over the labels and one permutation of the shards",
        .citation =
            "H. B. McMahan, E. Moore, D. Ramage, S. Hampson, B. Agüera y Arcas. "
            "Communication-Efficient Learning of Deep Networks from Decentralized Data. AISTATS "
            "2017.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("per_client", &ShardsOptions::per_client, "shards of each client").between(1, 1e6)};
  }
};

Result<NamedPartition> make_shards(const ShardsOptions& options);

}  // namespace boba::sim
