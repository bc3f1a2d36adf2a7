#include "boba/rules/server.h"

namespace boba {
namespace {

class Server final : public Rule {
 public:
  explicit Server(const ServerOptions&) {}

  Need need() const override { return Need::kNothing; }

  ServerData server_data() const override { return ServerData::kRows; }

  Result<void> admits(const Shape& shape) const override {
    if (shape.classes > 0) return {};
    return invalid_argument("server needs at least one server gradient; got none");
  }

  Result<Decision> decide(RowSpace& rows) const override {
    const Shape& shape = rows.shape();
    Decision decision;
    decision.rows.resize(shape.clients);
    for (RowDecision& row : decision.rows) {
      row.accepted = false;
      row.reason = "the rule uses the server's gradients only";
    }
    decision.server_weights.assign(shape.classes, 1 / static_cast<double>(shape.classes));
    return decision;
  }
};

}  // namespace

Result<Aggregator> make_server(const ServerOptions& options) {
  return make_named<Aggregator, Server>(options);
}

}  // namespace boba
