#include "boba/text/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace boba {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggestion(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > 64) return "";
  std::string_view best;
  std::size_t least = name.size() / 3 + 2;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean {}?", best);
}

std::string join(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace boba
