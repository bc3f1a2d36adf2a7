#include "simulator/torch/pool.h"

#include <algorithm>
#include <numeric>

#include "simulator/train/plan.h"

namespace boba::sim {
namespace {

using torch::Tensor;

constexpr double kFilled = 0.8;  // at least this share of a group's places is needed

// Holdings one after another.
std::vector<Holding> in_a_row(const std::vector<ExampleTensors>& all, std::int64_t first) {
  std::vector<Holding> holdings;
  for (const ExampleTensors& each : all) {
    holdings.push_back({first, first, each.labels.numel()});
    first += each.labels.numel();
  }
  return holdings;
}

}  // namespace

Pool::Pool(const FederationTensors& tensors, const torch::Device& device,
           const std::function<Tensor(const Tensor&)>& kept) {
  std::vector<Tensor> inputs = {kept(tensors.all_honest.inputs.to(device))};
  std::vector<Tensor> labels = {tensors.all_honest.labels};
  const std::int64_t honest = tensors.all_honest.labels.numel();
  honest_ = in_a_row(tensors.honest, 0);
  std::int64_t end = honest;
  if (!tensors.server.empty()) {
    inputs.push_back(kept(tensors.server_whole.inputs.to(device)));
    labels.push_back(tensors.server_whole.labels);
    server_ = in_a_row(tensors.server, honest);
    server_whole_ = {honest, honest, tensors.server_whole.labels.numel()};
    end += server_whole_.count;
  }
  for (std::size_t j = 0; j < tensors.flipped.size(); ++j) {
    const Holding& source = honest_[flipped_source(j, honest_.size())];
    flipped_.push_back({source.input, end, source.count});
    labels.push_back(tensors.flipped[j].labels);
    end += source.count;
  }
  inputs_ = inputs.size() == 1 ? inputs.front() : torch::cat(inputs);
  labels_ = torch::cat(labels).to(device);
}

const Holding& Pool::holding(const TrainingTask& task) const {
  switch (task.learner) {
    case Learner::kHonest:
      return honest_[task.index];
    case Learner::kFlipped:
      return flipped_[task.index];
    case Learner::kServerClass:
      return server_[task.index];
    case Learner::kServerWhole:
      break;
  }
  return server_whole_;
}

Batch Pool::whole(std::span<const Holding> learners) const {
  std::int64_t size = 0;
  for (const Holding& learner : learners) size = std::max(size, learner.count);
  bool adjacent = true;
  for (std::size_t i = 0; i < learners.size(); ++i) {
    const auto before = static_cast<std::int64_t>(i) * size;
    adjacent = adjacent && learners[i].count == size &&
               learners[i].input == learners[0].input + before &&
               learners[i].label == learners[0].label + before;
  }
  if (!adjacent) {
    return gather(
        learners, size, [](std::size_t, std::int64_t k) { return k; },
        [&](std::size_t i) { return learners[i].count; });
  }
  const auto n = static_cast<std::int64_t>(learners.size());
  std::vector<std::int64_t> shape = inputs_.sizes().vec();
  shape[0] = size;
  shape.insert(shape.begin(), n);
  return {inputs_.narrow(0, learners[0].input, n * size).view(shape),
          labels_.narrow(0, learners[0].label, n * size),
          torch::full({n * size}, 1.0 / static_cast<double>(size),
                      torch::TensorOptions(labels_.device()).dtype(torch::kFloat))};
}

Batch Pool::some(std::span<const Holding> learners,
                 std::span<const std::vector<std::int64_t>> chosen) const {
  std::size_t size = 0;
  for (const auto& places : chosen) size = std::max(size, places.size());
  return gather(
      learners, static_cast<std::int64_t>(size),
      [&](std::size_t i, std::int64_t k) { return chosen[i][static_cast<std::size_t>(k)]; },
      [&](std::size_t i) { return static_cast<std::int64_t>(chosen[i].size()); });
}

Batch Pool::gather(std::span<const Holding> learners, std::int64_t size,
                   const std::function<std::int64_t(std::size_t, std::int64_t)>& place,
                   const std::function<std::int64_t(std::size_t)>& count) const {
  std::vector<std::int64_t> inputs;
  std::vector<std::int64_t> labels;
  std::vector<float> weights;
  for (std::size_t i = 0; i < learners.size(); ++i) {
    const std::int64_t held = count(i);
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t at = k < held ? place(i, k) : 0;
      inputs.push_back(learners[i].input + at);
      labels.push_back(learners[i].label + at);
      weights.push_back(k < held ? static_cast<float>(1.0 / static_cast<double>(held)) : 0.0F);
    }
  }
  const torch::Device device = labels_.device();
  const Tensor which = torch::tensor(at::ArrayRef<std::int64_t>(inputs)).to(device);
  std::vector<std::int64_t> shape = inputs_.sizes().vec();
  shape[0] = size;
  shape.insert(shape.begin(), static_cast<std::int64_t>(learners.size()));
  return {inputs_.index_select(0, which).view(shape),
          labels_.index_select(0, torch::tensor(at::ArrayRef<std::int64_t>(labels)).to(device)),
          torch::tensor(at::ArrayRef<float>(weights)).to(device)};
}

std::vector<std::vector<std::size_t>> group_by_size(std::span<const std::int64_t> counts) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::int64_t most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  const auto all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto places = most * static_cast<std::int64_t>(counts.size());
  if (static_cast<double>(all) < kFilled * static_cast<double>(places)) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  }
  std::vector<std::vector<std::size_t>> groups;
  std::int64_t size = 0;    // examples of the group's largest
  std::int64_t needed = 0;  // examples of all of the group
  for (const std::size_t i : order) {
    const auto learners =
        groups.empty() ? std::int64_t{0} : static_cast<std::int64_t>(groups.back().size());
    const std::int64_t wider = std::max(size, counts[i]);
    const std::int64_t room = wider * (learners + 1);
    const bool loose =
        static_cast<double>(needed + counts[i]) < kFilled * static_cast<double>(room);
    if (learners == 0 || loose || room > kMostExamples) {
      groups.emplace_back();
      size = needed = 0;
    }
    groups.back().push_back(i);
    size = std::max(size, counts[i]);
    needed += counts[i];
  }
  return groups;
}

}  // namespace boba::sim
