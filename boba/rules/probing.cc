#include "boba/rules/probing.h"

#include <fmt/format.h>

#include <cmath>

namespace boba {

Result<std::vector<double>> losses_alone(RowSpace& rows) {
  std::vector<std::vector<RowSpace::Term>> steps(rows.shape().clients);
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = {{i, 1.0}};
  return rows.losses(0, steps);
}

void warn_not_finite(std::span<const double> values, Decision& decision) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (decision.rows[i].accepted && !std::isfinite(values[i])) ++count;
  }
  if (count == 0) return;
  decision.warnings.push_back(fmt::format(
      "the loss is not finite for {} of the accepted clients: it cannot tell them apart", count));
}

}  // namespace boba
