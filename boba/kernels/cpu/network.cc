#include "boba/kernels/cpu/network.h"

#include <algorithm>
#include <cstdint>

namespace boba::cpu {
namespace {

class Builder {
 public:
  Builder(std::size_t n, std::size_t sorted) : n_(n), sorted_(sorted) {}

  // Sorts the places [start, start + size); places from n on are taken as infinite and cost
  // nothing. REQUIRES: size is a power of two.
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

// Drops, from the last to the first, comparators of two places whose numbers go to one part
// without meeting another comparator: the part gets both, in whatever order.
std::vector<Comparator> prune(const std::vector<Comparator>& all, std::size_t n, std::size_t first,
                              std::size_t last) {
  enum Part : std::uint8_t { kBelow, kWanted, kAbove, kCompared };
  std::vector<Part> part(n);
  for (std::size_t k = 0; k < n; ++k) part[k] = k < first ? kBelow : k < last ? kWanted : kAbove;
  std::vector<Comparator> kept;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (part[it->low] == part[it->high] && part[it->low] != kCompared) continue;
    part[it->low] = part[it->high] = kCompared;
    kept.push_back(*it);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

// Puts the comparators by how many others must come before them: the processor then finds many
// at a time that do not wait for each other.
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

}  // namespace

std::vector<Comparator> selection_network(std::size_t n, std::size_t first, std::size_t last,
                                          std::size_t sorted) {
  std::size_t size = 1;
  while (size < n) size *= 2;
  Builder builder(n, sorted);
  builder.sort(0, size);
  return by_depth(prune(builder.take(), n, first, last), n);
}

}  // namespace boba::cpu
