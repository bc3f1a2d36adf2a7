#include "boba/kernels/cpu/network.h"

#include <algorithm>
#include <cstdint>

namespace boba::cpu {
namespace {

class Builder {
 public:
  Builder(std::size_t n, std::size_t sorted) : n_(n), sorted_(sorted) {}

  // Sorts the places [start, start + size). Places from n on count as infinite and cost nothing.
  // REQUIRES: size is a power of two.
  void sort(std::size_t start, std::size_t size) {
    if (size < 2 || start + 1 >= n_) return;
    if (size <= sorted_ && start / sorted_ * sorted_ + sorted_ <= n_) return;
    sort(start, size / 2);
    sort(start + size / 2, size / 2);
    merge(start, size, 1);
  }

  std::vector<Comparator> take() { return std::move(comparators_); }

 private:
  // Merges two sorted halves of the places start, start + step, ...
  void merge(std::size_t start, std::size_t size, std::size_t step) {
    const std::size_t twice = 2 * step;
    if (twice >= size) {
      compare(start, start + step);
      return;
    }
    merge(start, size, twice);
    merge(start + step, size, twice);
    for (std::size_t k = start + step; k + step < start + size; k += twice) compare(k, k + step);
  }

  void compare(std::size_t low, std::size_t high) {
    if (high >= n_) return;
    comparators_.push_back({static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(high)});
  }

  std::size_t n_;
  std::size_t sorted_;
  std::vector<Comparator> comparators_;
};

// Drops comparators, from the last to the first, of two places whose numbers end in the same zone
// without another comparison: within a zone the order does not matter.
std::vector<Comparator> prune(const std::vector<Comparator>& all, std::vector<int> zone) {
  constexpr int kCompared = -1;
  std::vector<Comparator> kept;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (zone[it->low] == zone[it->high] && zone[it->low] != kCompared) continue;
    zone[it->low] = zone[it->high] = kCompared;
    kept.push_back(*it);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

// Orders the comparators by how many others must come before them. Neighbours then do not wait for
// each other, so the processor can do many at a time.
std::vector<Comparator> by_depth(const std::vector<Comparator>& comparators, std::size_t n) {
  std::vector<std::size_t> depth(n);
  std::vector<std::vector<Comparator>> layers;
  for (const Comparator& c : comparators) {
    const std::size_t layer = std::max(depth[c.low], depth[c.high]);
    depth[c.low] = depth[c.high] = layer + 1;
    if (layer == layers.size()) layers.emplace_back();
    layers[layer].push_back(c);
  }
  std::vector<Comparator> ordered;
  for (const auto& layer : layers) ordered.insert(ordered.end(), layer.begin(), layer.end());
  return ordered;
}

std::vector<Comparator> merge_exchange(std::size_t n, std::size_t sorted) {
  std::size_t size = 1;
  while (size < n) size *= 2;
  Builder builder(n, sorted);
  builder.sort(0, size);
  return builder.take();
}

// Brings only the least to the first place and the largest to the last: compares pairs, then the
// smaller ones and the larger ones among themselves.
std::vector<Comparator> tournament(std::size_t n) {
  std::vector<std::size_t> smaller;
  std::vector<std::size_t> larger;
  std::vector<Comparator> all;
  const auto compare = [&](std::size_t low, std::size_t high) {
    all.push_back({static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(high)});
  };
  for (std::size_t k = 0; k < n; k += 2) {
    smaller.push_back(k);
    larger.push_back(std::min(k + 1, n - 1));
    if (k + 1 < n) compare(k, k + 1);
  }
  for (std::size_t step = 1; step < smaller.size(); step *= 2) {
    for (std::size_t k = 0; k + step < smaller.size(); k += 2 * step) {
      compare(smaller[k], smaller[k + step]);
    }
  }
  const std::size_t last = larger.size() - 1;
  for (std::size_t step = 1; step < larger.size(); step *= 2) {
    for (std::size_t k = 0; k + step < larger.size(); k += 2 * step) {
      compare(larger[last - k - step], larger[last - k]);
    }
  }
  return all;
}

// Where places lie relative to the wanted ones. Places of one zone need no order among themselves.
enum Zone : int { kBelow, kCutFirst, kInside, kCutLast, kAbove };

Zone zone_of(std::size_t begin, std::size_t end, std::size_t first, std::size_t last) {
  if (begin < first && first < end) return kCutFirst;
  if (begin < last && last < end) return kCutLast;
  return end <= first ? kBelow : end <= last ? kInside : kAbove;
}

// A step must leave a block sorted if a later step takes it, or if the wanted range ends in it.
std::vector<BlockStep> steps_of(const std::vector<Comparator>& comparators,
                                const std::vector<int>& zone) {
  std::vector<bool> sorted(zone.size());
  std::transform(zone.begin(), zone.end(), sorted.begin(),
                 [](int p) { return p == kCutFirst || p == kCutLast; });
  std::vector<BlockStep> steps;
  for (auto it = comparators.rbegin(); it != comparators.rend(); ++it) {
    steps.push_back({it->low, it->high, sorted[it->low], sorted[it->high]});
    sorted[it->low] = sorted[it->high] = true;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::size_t work(const std::vector<BlockStep>& steps, std::size_t block) {
  std::size_t bitonic = 0;  // comparisons that sort a half
  for (std::size_t size = block; size > 1; size /= 2) bitonic += block / 2;
  std::size_t sum = 0;
  for (const BlockStep& step : steps) {
    sum += block + (step.sort_low ? bitonic : 0) + (step.sort_high ? bitonic : 0);
  }
  return sum;
}

BlockNetwork padded_network(std::size_t n, std::size_t first, std::size_t last, std::size_t block,
                            std::size_t below) {
  const std::size_t blocks = (n + block - 1) / block;
  std::vector<int> zone;
  for (std::size_t b = 0; b < blocks; ++b) {
    zone.push_back(zone_of(b * block, (b + 1) * block, below + first, below + last));
  }
  const bool ends_only = blocks < 3 || std::all_of(zone.begin() + 1, zone.end() - 1,
                                                   [](int p) { return p == kInside; });
  const std::vector<Comparator> all = ends_only ? tournament(blocks) : merge_exchange(blocks, 1);
  std::vector<BlockStep> steps = steps_of(prune(all, zone), zone);
  const std::size_t pad_work = n % block == 0 ? 0 : merge_exchange(block, 1).size();
  const std::size_t all_work = work(steps, block) + pad_work;
  return {below, blocks * block, std::move(steps), all_work};
}

}  // namespace

std::vector<Comparator> selection_network(std::size_t n, std::size_t first, std::size_t last,
                                          std::size_t sorted) {
  std::vector<int> zone;
  for (std::size_t k = 0; k < n; ++k) zone.push_back(zone_of(k, k + 1, first, last));
  return by_depth(prune(merge_exchange(n, sorted), zone), n);
}

BlockNetwork block_network(std::size_t n, std::size_t first, std::size_t last, std::size_t block) {
  const std::size_t padding = (block - n % block) % block;
  BlockNetwork best = padded_network(n, first, last, block, 0);
  // Other paddings may be better: all of it below, or so much that the wanted range begins or ends
  // with a block.
  for (const std::size_t below :
       {padding, (block - first % block) % block, (block - last % block) % block}) {
    if (below == 0 || below > padding) continue;
    BlockNetwork other = padded_network(n, first, last, block, below);
    if (other.work < best.work) best = std::move(other);
  }
  return best;
}

}  // namespace boba::cpu
