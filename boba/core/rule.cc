#include "boba/core/rule.h"

namespace boba {
namespace {

// Rounding of the products times the condition of the decision: beyond this they are formed anew.
constexpr double kMostError = 1e-3;

}  // namespace

ServerData Rule::server_data() const {
  switch (need()) {
    case Need::kServerGram:
      return ServerData::kRows;
    case Need::kServerProducts:
      return ServerData::kGradient;
    case Need::kNorms:
      return ServerData::kLoss;
    default:
      return ServerData::kNone;
  }
}

Traits Rule::traits() const {
  const ServerData data = server_data();
  const bool asks = data == ServerData::kLoss || data == ServerData::kLossGradient;
  return {.shifts = data == ServerData::kNone, .scales = !asks};
}

Result<Decision> decide_from(RowSpace& rows,
                             const std::function<Result<Decision>(const Gram& gram)>& weigh) {
  Result<Decision> decision = weigh(rows.gram());
  if (!decision || decision->condition * rows.gram().rounding() <= kMostError) return decision;
  if (!rows.sharpen()) return decision;
  return weigh(rows.gram());
}

Result<Decision> WeightRule::decide(RowSpace& rows) const {
  return decide_from(rows, [&](const Gram& gram) { return weigh(gram, rows.shape()); });
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
