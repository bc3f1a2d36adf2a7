#include "simulator/train/batches.h"

#include <algorithm>
#include <cassert>

namespace boba::sim {
namespace {

// Clients whose numbers of their own draw batches; the server's come after all of them.
constexpr std::uint32_t kServerStream = 1U << 24;

}  // namespace

StreamKey batch_key(std::uint64_t seed, int round, int honest, const TrainingTask& task) {
  auto client = static_cast<std::uint32_t>(task.index);
  if (task.learner == Learner::kFlipped) client += static_cast<std::uint32_t>(honest);
  if (task.learner == Learner::kServerClass) client += kServerStream;
  if (task.learner == Learner::kServerWhole) client = 2 * kServerStream;
  return {.seed = seed,
          .round = static_cast<std::uint32_t>(round),
          .client = client,
          .purpose = Purpose::kBatch};
}

Batches::Batches(std::size_t count, int batch, const StreamKey& key)
    : size_(batch == 0 ? count : std::min(static_cast<std::size_t>(batch), count)) {
  if (size_ == count) return;
  for (const std::size_t i : permutation(key, count)) {
    order_.push_back(static_cast<std::int64_t>(i));
  }
}

std::span<const std::int64_t> Batches::next() {
  assert(!whole());
  chosen_.clear();
  for (std::size_t k = 0; k < size_; ++k) {
    chosen_.push_back(order_[at_]);
    at_ = (at_ + 1) % order_.size();
  }
  return chosen_;
}

}  // namespace boba::sim
