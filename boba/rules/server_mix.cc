#include "boba/rules/server_mix.h"

#include <fmt/format.h>

namespace boba {
namespace {

class ServerMix final : public BlendStage {
 public:
  explicit ServerMix(const ServerMixOptions& options) : options_(options) {}

  Result<void> admits(const Shape& shape) const override {
    if (shape.classes > 0) return {};
    return invalid_argument("server-mix needs at least one server gradient; got none");
  }

  bool needs_server_rows() const override { return true; }

  void blend(const Shape& shape, Decision& decision) const override {
    const double rest = 1 - options_.lambda;
    for (RowDecision& row : decision.rows) row.weight *= rest;
    decision.order_factor *= rest;
    decision.server_weights.resize(shape.classes, 0.0);
    for (double& weight : decision.server_weights) {
      weight = rest * weight + options_.lambda / static_cast<double>(shape.classes);
    }
    decision.notes.push_back(
        fmt::format("server-mix: the rule's result counts {:g}, the server's gradients {:g}", rest,
                    options_.lambda));
  }

 private:
  ServerMixOptions options_;
};

}  // namespace

Result<NamedBlend> make_server_mix(const ServerMixOptions& options) {
  return make_named<NamedBlend, ServerMix>(options);
}

}  // namespace boba
