#include "simulator/partition/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "boba/core/random.h"
#include "simulator/partition/cut.h"

namespace boba::sim {
namespace {

using Pieces = std::vector<std::vector<std::uint32_t>>;

// How many of the shards each class gets: largest remainders, ties to the lower class, and at least
// one where there are examples. REQUIRES: present classes <= shards <= examples.
std::vector<std::size_t> shards_of(const Pieces& classes, std::size_t shards,
                                   std::size_t examples) {
  std::vector<std::size_t> given(classes.size());
  std::vector<std::size_t> rest(classes.size());
  for (std::size_t z = 0; z < classes.size(); ++z) {
    given[z] = shards * classes[z].size() / examples;
    rest[z] = shards * classes[z].size() % examples;
  }
  std::vector<std::size_t> order(classes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return rest[x] > rest[y]; });
  const std::size_t left = shards - std::accumulate(given.begin(), given.end(), std::size_t{0});
  for (std::size_t k = 0; k < left; ++k) ++given[order[k]];
  for (std::size_t z = 0; z < classes.size(); ++z) {
    if (given[z] > 0 || classes[z].empty()) continue;
    --*std::max_element(given.begin(), given.end());
    given[z] = 1;
  }
  return given;
}

class Shards final : public PartitionScheme {
 public:
  explicit Shards(const ShardsOptions& options) : options_(options) {}

  Result<Partition> deal(const PartitionRequest& request) const override {
    if (Result<void> good = check_request("shards", request); !good) return good.error();
    const auto each = static_cast<std::size_t>(options_.per_client);
    const std::size_t examples = request.labels.size();
    const std::size_t wanted = each * request.clients;
    const Pieces classes = by_class(request);
    const auto present = static_cast<std::size_t>(std::count_if(
        classes.begin(), classes.end(), [](const auto& members) { return !members.empty(); }));
    if (wanted > examples || wanted < present) {
      return invalid_argument(fmt::format(
          "shards needs {} <= per_client * clients <= {}, the classes and the examples there are; "
          "got {} * {}",
          present, examples, each, request.clients));
    }
    Pieces shards;
    const std::vector<std::size_t> counts = shards_of(classes, wanted, examples);
    for (std::size_t z = 0; z < classes.size(); ++z) {
      if (counts[z] == 0) continue;
      std::size_t begin = 0;
      for (const std::size_t end : cut(classes[z].size(), std::vector<double>(counts[z], 1.0))) {
        shards.emplace_back(classes[z].begin() + static_cast<std::ptrdiff_t>(begin),
                            classes[z].begin() + static_cast<std::ptrdiff_t>(end));
        begin = end;
      }
    }
    const auto order = permutation({.seed = request.seed, .purpose = Purpose::kPartition}, wanted);
    Partition partition;
    partition.clients.resize(request.clients);
    for (std::size_t k = 0; k < wanted; ++k) {
      auto& mine = partition.clients[k / each];
      mine.insert(mine.end(), shards[order[k]].begin(), shards[order[k]].end());
    }
    finish(partition);
    return partition;
  }

 private:
  ShardsOptions options_;
};

}  // namespace

Result<NamedPartition> make_shards(const ShardsOptions& options) {
  return make_named<NamedPartition, Shards>(options);
}

}  // namespace boba::sim
