#include "boba/rules/fltrust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace boba {
namespace {

RowDecision judge(double norm, double cosine, double trust) {
  RowDecision row;
  row.accepted = trust > 0;
  if (norm == 0) {
    row.reason = "no trust: its update is zero";
  } else if (trust > 0) {
    row.reason = fmt::format("trust {:.4g}: its cosine with the server's gradient", trust);
  } else {
    row.reason = fmt::format("no trust: its cosine with the server's gradient is {:.4g}", cosine);
  }
  row.measures = {{"trust", trust}, {"cosine", cosine}, {"norm", norm}};
  return row;
}

class FlTrust final : public Rule {
 public:
  explicit FlTrust(const FltrustOptions&) {}

  Need need() const override { return Need::kServerProducts; }

  Result<void> admits(const Shape& shape) const override {
    if (shape.server) return {};
    return invalid_argument("fltrust needs the server's gradient; got none");
  }

  Result<Decision> decide(RowSpace& rows) const override {
    const ServerProducts& products = rows.server_products();
    const double server_norm = std::sqrt(products.server_sq);
    Decision decision;
    double sum = 0;
    for (std::size_t i = 0; i < products.dot.size(); ++i) {
      const double norm = std::sqrt(products.sq_norm[i]);
      const double cosine = norm > 0 && server_norm > 0 ? products.dot[i] / norm / server_norm : 0;
      // Written so that NaN has no trust; rounding can lift a cosine above 1.
      const double trust = cosine > 0 ? std::min(cosine, 1.0) : 0;
      decision.rows.push_back(judge(norm, cosine, trust));
      decision.rows.back().weight = trust > 0 ? trust * (server_norm / norm) : 0;
      sum += trust;
    }
    for (RowDecision& row : decision.rows) {
      if (row.weight != 0) row.weight /= sum;
    }
    decision.measures = {{"server_norm", server_norm}, {"trust_sum", sum}};
    if (server_norm == 0) {
      decision.warnings.emplace_back(
          "the server's gradient is zero: the result is the zero update");
    } else if (sum == 0) {
      decision.warnings.emplace_back("no client is trusted: the result is the zero update");
    }
    return decision;
  }
};

}  // namespace

Result<Aggregator> make_fltrust(const FltrustOptions& options) {
  return make_named<Aggregator, FlTrust>(options);
}

}  // namespace boba
