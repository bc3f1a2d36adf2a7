#include <fmt/format.h>

#include "boba/capi/handles.h"

namespace boba::capi {
namespace {

// The caller's functions as the rules call them.
class CallbackOracle final : public ServerOracle {
 public:
  explicit CallbackOracle(const boba_round& round) : round_(round) {}

  Result<double> loss(const UpdateView& point) override {
    if (round_.loss == nullptr) return missing("loss");
    double value = 0;
    const int code = round_.loss(round_.user, data(point), point.length(), dtype(), &value);
    if (code != 0) return failed("loss", code);
    return value;
  }

  Result<void> gradient(const UpdateView& point, MutableRow out) override {
    if (round_.gradient == nullptr) return missing("gradient");
    void* target =
        visit(out.dtype(), [&](auto zero) -> void* { return out.as<decltype(zero)>().data(); });
    const int code = round_.gradient(round_.user, data(point), point.length(), dtype(), target);
    if (code != 0) return failed("gradient", code);
    return {};
  }

 private:
  static const void* data(const UpdateView& point) {
    return visit(point.dtype(),
                 [&](auto zero) -> const void* { return point.row<decltype(zero)>(0); });
  }
  static Error missing(std::string_view what) {
    return invalid_argument(
        fmt::format("the rule asks for the server's {}; boba_round_set_oracle gave none", what));
  }
  static Error failed(std::string_view what, int code) {
    return invalid_argument(fmt::format("the server's {} function returned {}", what, code));
  }
  boba_dtype dtype() const { return round_.dtype == DType::kFloat32 ? BOBA_FLOAT32 : BOBA_FLOAT64; }

  const boba_round& round_;
};

}  // namespace

std::unique_ptr<ServerOracle> oracle_of(const boba_round& round) {
  if (round.loss == nullptr && round.gradient == nullptr) return nullptr;
  return std::make_unique<CallbackOracle>(round);
}

Round view_of(const boba_round& round, ServerOracle* oracle) {
  Round view;
  view.server = round.server.view();
  view.server_counts = round.counts;
  view.server_whole = round.whole.view();
  view.model = round.model.view();
  view.learning_rate = round.learning_rate;
  view.oracle = oracle;
  view.seed = round.seed;
  view.number = round.number;
  return view;
}

}  // namespace boba::capi
