#include "boba/attacks/zero.h"

#include "boba/attacks/make.h"
#include "boba/attacks/parts.h"

namespace boba {
namespace {

class Zero final : public Attack {
 public:
  explicit Zero(const ZeroOptions&) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound&,
                             std::span<const MutableRow> out) const override {
    send_constant(kernels, out, 0);
    return AttackReport{};
  }
};

}  // namespace

Result<NamedAttack> make_zero(const ZeroOptions& options) { return make_named<Zero>(options); }

}  // namespace boba
