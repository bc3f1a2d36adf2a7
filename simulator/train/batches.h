// Batches: which of its examples a learner sees in each step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boba/core/random.h"
#include "simulator/train/trainer.h"

namespace boba::sim {

// The stream that a learner's order is drawn from.
StreamKey batch_key(std::uint64_t seed, int round, int honest, const TrainingTask& task);

class Batches {
 public:
  // batch: examples of a step; 0: all of them.
  Batches(std::size_t count, int batch, const StreamKey& key);

  // Examples of a step.
  std::size_t size() const { return size_; }
  // Whether every step sees all examples, in their order.
  bool whole() const { return order_.empty(); }
  // Walks through the examples in a drawn order, over and over. REQUIRES: !whole().
  std::span<const std::int64_t> next();

 private:
  std::size_t size_;
  std::vector<std::int64_t> order_;
  std::vector<std::int64_t> chosen_;
  std::size_t at_ = 0;
};

}  // namespace boba::sim
