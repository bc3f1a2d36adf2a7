#include "boba/core/copies.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace boba {
namespace {

// What rounding may leave of the squared distance of equal rows, in units of their squared sizes.
constexpr double kLeftByRounding = 16;

// The squared distance from a client to its nearest, in the middle of all clients'.
double typical_nearest(const Gram& gram) {
  const std::size_t n = gram.clients();
  std::vector<double> distances(n);
  std::vector<double> nearest(n);
  for (std::size_t i = 0; i < n; ++i) {
    gram.sq_distances(i, distances);
    distances[i] = std::numeric_limits<double>::infinity();
    nearest[i] = *std::min_element(distances.begin(), distances.end());
  }
  const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(nearest.begin(), middle, nearest.end());
  return *middle;
}

// The positions with equal keys, where more than one has the key. Keys are ordered.
template <class Key>
std::vector<std::vector<std::size_t>> shared(const std::map<Key, std::vector<std::size_t>>& found) {
  std::vector<std::vector<std::size_t>> groups;
  for (const auto& entry : found) {
    if (entry.second.size() > 1) groups.push_back(entry.second);
  }
  return groups;
}

}  // namespace

Copies near_copies(const Gram& gram, bool* doubtful) {
  const std::size_t n = gram.clients();
  Copies copies(n);
  if (n < 2) return copies;
  const double limit = kNearCopy * kNearCopy * typical_nearest(gram);
  const double lost = kLeftByRounding * gram.rounding();
  std::vector<double> distances(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (copies[i]) continue;
    gram.sq_distances(i, distances);
    for (std::size_t j = i + 1; j < n; ++j) {
      const double rounding = lost * (gram.centred(i, i) + gram.centred(j, j));
      if (copies[j] || !(distances[j] <= std::max(limit, rounding))) continue;
      copies[j] = i;
      if (doubtful != nullptr && rounding > limit) *doubtful = true;
    }
  }
  return copies;
}

Copies equal_copies(const Kernels& kernels, const UpdateView& rows, std::span<const RowScan> scan) {
  Copies copies(rows.rows());
  std::map<double, std::vector<std::size_t>> by_largest;
  for (std::size_t i = 0; i < scan.size(); ++i) {
    if (scan[i].finite) by_largest[scan[i].max_abs].push_back(i);
  }
  UpdateMatrix difference;
  for (const std::vector<std::size_t>& alike : shared(by_largest)) {
    RowList some(rows.dtype(), rows.length());
    for (std::size_t i : alike) some.add(rows, i);
    RowList first(rows.dtype(), rows.length());
    first.add(rows, alike.front());
    // Equal rows have equal products. Those that have are subtracted.
    const std::vector<double> one = {1.0};
    const DotsPass pass = kernels.dots(some.view(), first.view(), one);
    std::map<std::pair<double, double>, std::vector<std::size_t>> by_products;
    for (std::size_t k = 0; k < alike.size(); ++k) {
      by_products[{pass.sq_norm[k], pass.dot[k]}].push_back(alike[k]);
    }
    for (const std::vector<std::size_t>& group : shared(by_products)) {
      if (difference.rows() == 0) difference = kernels.make_rows(rows.dtype(), 1, rows.length());
      for (std::size_t k = 1; k < group.size(); ++k) {
        RowList two(rows.dtype(), rows.length());
        two.add(rows, group[0]);
        two.add(rows, group[k]);
        const std::vector<double> signs = {1.0, -1.0};
        kernels.combine(two.view(), signs, 0, difference.row(0));
        if (kernels.dots(difference.view(), {}, {}).scan[0].max_abs == 0) {
          copies[group[k]] = group[0];
        }
      }
    }
  }
  return copies;
}

std::vector<std::vector<std::size_t>> copy_groups(const Copies& copies) {
  std::map<std::size_t, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (!copies[i]) continue;
    std::vector<std::size_t>& group = found[*copies[i]];
    if (group.empty()) group.push_back(*copies[i]);
    group.push_back(i);
  }
  std::vector<std::vector<std::size_t>> groups;
  groups.reserve(found.size());
  for (auto& entry : found) groups.push_back(std::move(entry.second));
  return groups;
}

}  // namespace boba
