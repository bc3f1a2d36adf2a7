#include "boba/attacks/nan.h"

#include <limits>

#include "boba/attacks/make.h"
#include "boba/attacks/parts.h"

namespace boba {
namespace {

class Nan final : public Attack {
 public:
  explicit Nan(const NanOptions&) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound&,
                             std::span<const MutableRow> out) const override {
    send_constant(kernels, out, std::numeric_limits<double>::quiet_NaN());
    return AttackReport{};
  }
};

}  // namespace

Result<NamedAttack> make_nan(const NanOptions& options) { return make_named<Nan>(options); }

}  // namespace boba
