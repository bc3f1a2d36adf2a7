#include "boba/rules/selfrej.h"

#include <optional>

#include "boba/rules/select.h"

namespace boba {
namespace {

class SelfRej final : public Rule {
 public:
  explicit SelfRej(const SelfrejOptions& options) : options_(options) {}

  Need need() const override { return Need::kNorms; }
  std::optional<int> tolerance() const override { return options_.f; }
  Traits traits() const override { return {.robust = true}; }

  Result<void> admits(const Shape& shape) const override {
    return needs_more_than_f("selfrej", shape, options_.f);
  }

  Result<Decision> decide(RowSpace& rows) const override {
    const Result<std::vector<double>> losses = losses_alone(rows);
    if (!losses) return losses.error();
    const Shape& shape = rows.shape();
    const std::size_t kept = shape.clients - shape.tolerated(options_.f);
    Decision decision = mean_of_best(*losses, kept, Best::kSmallest, "loss");
    decision.warnings = majority_warnings(shape, options_.f);
    warn_not_finite(*losses, decision);
    return decision;
  }

 private:
  SelfrejOptions options_;
};

}  // namespace

Result<Aggregator> make_selfrej(const SelfrejOptions& options) {
  return make_named<Aggregator, SelfRej>(options);
}

}  // namespace boba
