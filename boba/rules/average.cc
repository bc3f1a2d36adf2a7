#include "boba/rules/average.h"

#include <fmt/format.h>

namespace boba {
namespace {

class Average final : public Rule {
 public:
  explicit Average(const AverageOptions&) {}

  Need need() const override { return Need::kNothing; }

  Result<void> admits(const Shape& shape) const override {
    if (shape.clients > 0) return {};
    return invalid_argument("average needs n >= 1; got n=0");
  }

  Result<Decision> decide(RowSpace& rows) const override {
    const std::size_t n = rows.shape().clients;
    Decision decision;
    decision.rows.resize(n);
    for (RowDecision& row : decision.rows) {
      row.weight = 1 / static_cast<double>(n);
      row.reason = fmt::format("one of the {} that are averaged", n);
    }
    decision.notes.emplace_back("average tolerates no Byzantine client");
    return decision;
  }
};

}  // namespace

Result<Aggregator> make_average(const AverageOptions& options) {
  return make_named<Aggregator, Average>(options);
}

}  // namespace boba
