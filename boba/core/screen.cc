#include "boba/core/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace boba {

Screen screen(std::span<const double> squares, std::size_t f, double limit,
              std::string_view measure) {
  const std::size_t n = squares.size();
  if (2 * f >= n) return {};
  const std::size_t nearest = n - f;
  std::vector<double> sorted(squares.begin(), squares.end());
  const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(nearest - 1);
  std::nth_element(sorted.begin(), place, sorted.end());
  const double scale = std::sqrt(*place);
  Screen result;
  for (std::size_t i = 0; i < n; ++i) {
    const double distance = std::sqrt(squares[i]);
    // Written so that NaN is refused; the scale may be infinite where most clients are.
    if (distance <= limit * scale) {
      if (scale > 0) result.farthest = std::max(result.farthest, distance / scale);
      continue;
    }
    result.refused.push_back(
        {i, fmt::format("refused: its {} is {:.3g}, more than {:g} times that of the {} nearest "
                        "clients ({:.3g})",
                        measure, distance, limit, nearest, scale)});
  }
  return result;
}

}  // namespace boba
