#include "boba/rules/probing.h"

#include <fmt/format.h>

#include <cmath>

namespace boba {

Result<std::vector<double>> losses_alone(RowSpace& rows) {
  std::vector<double> losses(rows.shape().clients);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const RowSpace::Term own{i, 1.0};
    const Result<double> loss = rows.loss(0, {&own, 1});
    if (!loss) return loss.error();
    losses[i] = *loss;
  }
  return losses;
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
