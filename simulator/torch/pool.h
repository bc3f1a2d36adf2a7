// Pool: all examples of a federation on one device, and batches of several learners from it.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "simulator/torch/example_tensors.h"
#include "simulator/train/trainer.h"

namespace boba::sim {

// Several learners' examples side by side. Where a learner has fewer than the others its places are
// filled with any example, of weight 0.
struct Batch {
  torch::Tensor inputs;   // (learners, examples, ...)
  torch::Tensor labels;   // (learners * examples)
  torch::Tensor weights;  // (learners * examples); a learner's sum to 1
};

// Where a learner's examples are.
struct Holding {
  std::int64_t input = 0;  // the first
  std::int64_t label = 0;
  std::int64_t count = 0;
};

constexpr std::int64_t kMostExamples = 98304;  // that go through a network together

class Pool {
 public:
  // kept: how inputs lie on the device.
  Pool(const FederationTensors& tensors, const torch::Device& device,
       const std::function<torch::Tensor(const torch::Tensor&)>& kept);

  const Holding& holding(const TrainingTask& task) const;

  // All that the learners hold. Not copied where it lies side by side already.
  Batch whole(std::span<const Holding> learners) const;
  // Some of it: chosen has places in each holding.
  Batch some(std::span<const Holding> learners,
             std::span<const std::vector<std::int64_t>> chosen) const;

 private:
  Batch gather(std::span<const Holding> learners, std::int64_t size,
               const std::function<std::int64_t(std::size_t, std::int64_t)>& place,
               const std::function<std::int64_t(std::size_t)>& count) const;

  torch::Tensor inputs_;
  torch::Tensor labels_;
  std::vector<Holding> honest_;
  std::vector<Holding> flipped_;
  std::vector<Holding> server_;
  Holding server_whole_;
};

// Learners of nearly equal numbers of examples, so that little is filled up, and not more than a
// device takes at once. Positions in counts; one group in the given order where that will do.
std::vector<std::vector<std::size_t>> group_by_size(std::span<const std::int64_t> counts);

}  // namespace boba::sim
