#include "boba/attacks/constant.h"

#include <cmath>
#include <limits>

namespace boba {
namespace {

class Constant final : public Attack {
 public:
  explicit Constant(double value) : value_(value) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound&,
                             std::span<const MutableRow> out) const override {
    for (const MutableRow& row : out) kernels.fill(row, value_);
    return AttackReport{};
  }
  bool looks_at_honest() const override { return false; }
  bool sends_numbers() const override { return std::isfinite(value_); }

 private:
  double value_;
};

template <class Options>
Result<NamedAttack> make(const Options& options, double value) {
  return NamedAttack{std::make_shared<Constant>(value), canonical(options)};
}

}  // namespace

Result<NamedAttack> make_nan(const NanOptions& options) {
  return make(options, std::numeric_limits<double>::quiet_NaN());
}

Result<NamedAttack> make_inf(const InfOptions& options) {
  return make(options, std::numeric_limits<double>::infinity());
}

Result<NamedAttack> make_zero(const ZeroOptions& options) { return make(options, 0); }

}  // namespace boba
