#include "boba/rules/bygars.h"

#include <fmt/format.h>

#include <cmath>

namespace boba {
namespace {

RowDecision judge(double norm, double reputation, double scale) {
  RowDecision row;
  row.accepted = reputation > 0;
  row.weight = reputation != 0 ? scale * reputation / norm : 0;
  if (norm == 0) {
    row.reason = "no reputation: its update is zero";
  } else {
    row.reason = fmt::format("reputation {:.4g}: it points {} the server's gradient", reputation,
                             reputation > 0 ? "along" : "away from");
  }
  row.measures = {{"reputation", reputation}, {"norm", norm}};
  return row;
}

class ByGars final : public Rule {
 public:
  explicit ByGars(const BygarsOptions& options) : options_(options) {}

  Need need() const override { return Need::kNorms; }
  ServerData server_data() const override { return ServerData::kLossGradient; }

  Result<void> admits(const Shape& shape) const override {
    if (shape.clients > 0) return {};
    return invalid_argument("bygars needs n >= 1; got n=0");
  }

  Result<Decision> decide(RowSpace& rows) const override {
    const std::size_t n = rows.shape().clients;
    std::vector<double> norms(n);
    for (std::size_t i = 0; i < n; ++i) norms[i] = std::sqrt(rows.sq_norms()[i]);

    const double eta = options_.eta > 0 ? options_.eta : rows.learning_rate();
    // The server multiplies the result with the round's step; the first gradient refuses one of 0.
    const double scale = options_.eta > 0 ? eta / rows.learning_rate() : 1;
    std::vector<double> q(n, 0.0);
    Decision decision;
    for (int step = 1; step <= options_.k; ++step) {
      const Result<ServerProducts> v = rows.gradient_dots(terms(q, norms, scale));
      if (!v) return v.error();
      const double v_norm = std::sqrt(v->server_sq);
      if (v_norm == 0) {
        decision.notes.push_back(
            fmt::format("the server's gradient is zero at step {}: the reputations stay", step));
        break;
      }
      const double rate = options_.alpha * eta;
      for (std::size_t i = 0; i < n; ++i) {
        if (norms[i] > 0) q[i] += rate * (v->dot[i] / norms[i] / v_norm);
      }
    }
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      decision.rows.push_back(judge(norms[i], q[i], scale));
      sum += q[i];
    }
    decision.measures = {{"reputation_sum", sum}};
    return decision;
  }

 private:
  // scale * sum q_i u_i; terms of factor 0 stay out, and with them the rows of norm 0.
  static std::vector<RowSpace::Term> terms(std::span<const double> q, std::span<const double> norms,
                                           double scale) {
    std::vector<RowSpace::Term> list;
    for (std::size_t i = 0; i < q.size(); ++i) {
      if (q[i] != 0) list.push_back({i, scale * q[i] / norms[i]});
    }
    return list;
  }

  BygarsOptions options_;
};

}  // namespace

Result<Aggregator> make_bygars(const BygarsOptions& options) {
  return make_named<Aggregator, ByGars>(options);
}

}  // namespace boba
