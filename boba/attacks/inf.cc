#include "boba/attacks/inf.h"

#include <limits>

#include "boba/attacks/make.h"
#include "boba/attacks/parts.h"

namespace boba {
namespace {

class Inf final : public Attack {
 public:
  explicit Inf(const InfOptions&) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound&,
                             std::span<const MutableRow> out) const override {
    send_constant(kernels, out, std::numeric_limits<double>::infinity());
    return AttackReport{};
  }
};

}  // namespace

Result<NamedAttack> make_inf(const InfOptions& options) { return make_named<Inf>(options); }

}  // namespace boba
