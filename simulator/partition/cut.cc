#include "simulator/partition/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "boba/core/random.h"

namespace boba::sim {
namespace {

// Labels are bytes.
constexpr std::size_t kMostClasses = 256;

void shuffle(std::uint64_t seed, std::size_t z, std::vector<std::uint32_t>& members) {
  const auto order = permutation(
      {.seed = seed, .client = static_cast<std::uint32_t>(z), .purpose = Purpose::kPartition},
      members.size());
  std::vector<std::uint32_t> mixed;
  mixed.reserve(members.size());
  for (const std::size_t place : order) mixed.push_back(members[place]);
  members = std::move(mixed);
}

}  // namespace

Result<void> check_request(std::string_view name, const PartitionRequest& request) {
  const std::size_t examples = request.labels.size();
  if (request.clients == 0) {
    return invalid_argument(fmt::format("{} needs at least 1 client; got 0", name));
  }
  if (request.classes == 0 || request.classes > kMostClasses) {
    return invalid_argument(
        fmt::format("{} needs 1 to {} classes; got {}", name, kMostClasses, request.classes));
  }
  if (examples < request.clients) {
    return invalid_argument(
        fmt::format("{} needs an example for each client; got {} examples for {} clients", name,
                    examples, request.clients));
  }
  if (examples > std::numeric_limits<std::uint32_t>::max()) {
    return invalid_argument(fmt::format("{} deals at most {} examples; got {}", name,
                                        std::numeric_limits<std::uint32_t>::max(), examples));
  }
  for (std::size_t i = 0; i < examples; ++i) {
    if (request.labels[i] < request.classes) continue;
    return invalid_argument(fmt::format("{} needs labels below {} classes; example {} has label {}",
                                        name, request.classes, i, request.labels[i]));
  }
  return {};
}

std::vector<std::vector<std::uint32_t>> by_class(const PartitionRequest& request,
                                                 ClassOrder order) {
  std::vector<std::vector<std::uint32_t>> classes(request.classes);
  for (std::size_t i = 0; i < request.labels.size(); ++i) {
    classes[request.labels[i]].push_back(static_cast<std::uint32_t>(i));
  }
  if (order == ClassOrder::kShuffled) {
    for (std::size_t z = 0; z < classes.size(); ++z) shuffle(request.seed, z, classes[z]);
  }
  return classes;
}

std::vector<std::size_t> cut(std::size_t count, std::span<const double> weights) {
  // The total is the same sum as the last partial one, so that the last end is count exactly.
  double total = 0;
  for (const double weight : weights) total += weight;
  assert(total > 0 && std::isfinite(total));
  std::vector<std::size_t> ends;
  ends.reserve(weights.size());
  double sum = 0;
  for (const double weight : weights) {
    sum += weight;
    ends.push_back(
        static_cast<std::size_t>(std::floor(static_cast<double>(count) * sum / total + 0.5)));
  }
  return ends;
}

Partition cut_classes(const PartitionRequest& request, const ClassWeights& weights,
                      ClassOrder order) {
  Partition partition;
  partition.clients.resize(request.clients);
  const auto classes = by_class(request, order);
  std::vector<double> column(request.clients);
  for (std::size_t z = 0; z < request.classes; ++z) {
    for (std::size_t i = 0; i < request.clients; ++i) column[i] = weights[i][z];
    if (std::all_of(column.begin(), column.end(), [](double w) { return w == 0; })) {
      std::fill(column.begin(), column.end(), 1.0);
    }
    const std::vector<std::size_t> ends = cut(classes[z].size(), column);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < request.clients; ++i) {
      auto& mine = partition.clients[i];
      const auto first = classes[z].begin();
      mine.insert(mine.end(), first + static_cast<std::ptrdiff_t>(begin),
                  first + static_cast<std::ptrdiff_t>(ends[i]));
      begin = ends[i];
    }
  }
  finish(partition);
  return partition;
}

void finish(Partition& partition) {
  auto& clients = partition.clients;
  for (auto& mine : clients) std::sort(mine.begin(), mine.end());
  for (auto& mine : clients) {
    if (!mine.empty()) continue;
    const auto richest = std::max_element(
        clients.begin(), clients.end(),
        [](const auto& left, const auto& right) { return left.size() < right.size(); });
    assert(richest->size() > 1);
    mine.push_back(richest->back());
    richest->pop_back();
  }
}

}  // namespace boba::sim
