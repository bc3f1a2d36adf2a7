// Partition: which examples each client holds. Labels in, indices out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"

namespace boba::sim {

struct PartitionRequest {
  std::span<const std::uint8_t> labels = {};  // of all examples, each below classes
  std::size_t classes = 0;
  std::size_t clients = 0;
  std::uint64_t seed = 0;
};

// Every example belongs to exactly one client.
struct Partition {
  std::vector<std::vector<std::uint32_t>> clients;  // indices of examples
};

// How examples are dealt. Immutable and thread-safe.
class PartitionScheme {
 public:
  virtual ~PartitionScheme() = default;
  virtual Result<Partition> deal(const PartitionRequest& request) const = 0;

  // Whether it can deal to so many clients, where that depends on no more than the classes.
  virtual Result<void> admits(std::size_t /*clients*/, std::size_t /*classes*/) const { return {}; }
};

using PartitionSchemePtr = std::shared_ptr<const PartitionScheme>;

// Row i, column z: how many examples of class z client i holds.
std::vector<std::vector<std::size_t>> label_table(const Partition& partition,
                                                  std::span<const std::uint8_t> labels,
                                                  std::size_t classes);

}  // namespace boba::sim
