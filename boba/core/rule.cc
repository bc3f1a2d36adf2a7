#include "boba/core/rule.h"

#include <algorithm>

namespace boba {

std::size_t Verdict::accepted() const {
  return static_cast<std::size_t>(
      std::count_if(clients.begin(), clients.end(), [](const auto& c) { return c.accepted; }));
}

Result<Decision> CoordinateRule::decide(RowSpace& rows) const {
  Decision decision;
  decision.order = order(rows.shape());
  decision.rows.resize(rows.shape().clients);
  for (RowDecision& row : decision.rows) row.reason = reason(rows.shape());
  decision.warnings = warnings(rows.shape());
  return decision;
}

}  // namespace boba
