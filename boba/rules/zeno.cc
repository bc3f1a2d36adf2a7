#include "boba/rules/zeno.h"

#include <cmath>
#include <optional>

#include "boba/rules/select.h"

namespace boba {
namespace {

class Zeno final : public Rule {
 public:
  explicit Zeno(const ZenoOptions& options) : options_(options) {}

  Need need() const override { return Need::kNorms; }
  std::optional<int> tolerance() const override { return options_.f; }
  Traits traits() const override { return {.robust = true}; }

  Result<void> admits(const Shape& shape) const override {
    return needs_more_than_f("zeno", shape, options_.f);
  }

  Result<Decision> decide(RowSpace& rows) const override {
    const Result<std::vector<double>> losses = losses_alone(rows);
    if (!losses) return losses.error();
    const Shape& shape = rows.shape();
    std::vector<double> steps(shape.clients);  // |eta g_i|
    std::vector<double> scores(shape.clients);
    for (std::size_t i = 0; i < shape.clients; ++i) {
      steps[i] = rows.learning_rate() * std::sqrt(rows.sq_norms()[i]);
      scores[i] = (*losses)[i] + options_.rho * steps[i] * steps[i];
    }
    const std::size_t kept = shape.clients - shape.tolerated(options_.f);
    Decision decision = mean_of_best(scores, kept, Best::kSmallest, "score");
    for (std::size_t i = 0; i < shape.clients; ++i) {
      decision.rows[i].measures.push_back({"loss", (*losses)[i]});
      decision.rows[i].measures.push_back({"step", steps[i]});
    }
    decision.warnings = tolerance_warnings(shape, options_.f);
    warn_not_finite(scores, decision);
    return decision;
  }

 private:
  ZenoOptions options_;
};

}  // namespace

Result<Aggregator> make_zeno(const ZenoOptions& options) {
  return make_named<Aggregator, Zeno>(options);
}

}  // namespace boba
