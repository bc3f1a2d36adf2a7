// Partitions for tests: labels, dealing by spec, and the check that nothing is lost.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/random.h"
#include "simulator/partition/registry.h"

namespace boba::testing {
using namespace sim;  // NOLINT

using Labels = std::vector<std::uint8_t>;
using Clients = std::vector<std::vector<std::uint32_t>>;
using Table = std::vector<std::vector<std::size_t>>;

// counts[z] times the label z, in order.
inline Labels sorted_labels(const std::vector<std::size_t>& counts) {
  Labels labels;
  for (std::size_t z = 0; z < counts.size(); ++z) {
    labels.insert(labels.end(), counts[z], static_cast<std::uint8_t>(z));
  }
  return labels;
}

// The same in random order.
inline Labels mixed_labels(const std::vector<std::size_t>& counts, std::uint64_t seed) {
  const Labels sorted = sorted_labels(counts);
  Labels labels;
  for (const std::size_t i : permutation({.seed = seed}, sorted.size())) {
    labels.push_back(sorted[i]);
  }
  return labels;
}

inline Result<Partition> deal(std::string_view spec, const PartitionRequest& request) {
  const Result<NamedPartition> made = make_partition(spec);
  if (!made) return made.error();
  return made->scheme->deal(request);
}

inline Result<Partition> deal(std::string_view spec, const Labels& labels, std::size_t classes,
                              std::size_t clients, std::uint64_t seed = 0) {
  return deal(spec, {.labels = labels, .classes = classes, .clients = clients, .seed = seed});
}

inline std::string error_of(const Result<Partition>& partition) {
  return partition ? "" : partition.error().message;
}

// Every example with exactly one client, each client's in rising order, nobody without.
inline void expect_complete(const Partition& partition, std::size_t clients, std::size_t examples) {
  ASSERT_EQ(partition.clients.size(), clients);
  std::vector<int> times(examples, 0);
  for (const auto& mine : partition.clients) {
    EXPECT_FALSE(mine.empty());
    for (std::size_t k = 0; k < mine.size(); ++k) {
      ASSERT_LT(mine[k], examples);
      ++times[mine[k]];
      if (k > 0) {
        EXPECT_LT(mine[k - 1], mine[k]);
      }
    }
  }
  EXPECT_EQ(times, std::vector<int>(examples, 1));
}

}  // namespace boba::testing
