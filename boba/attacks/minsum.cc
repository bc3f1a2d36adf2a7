#include "boba/attacks/minsum.h"

#include "boba/attacks/deviation.h"

namespace boba {
namespace {

class Minsum final : public Attack {
 public:
  explicit Minsum(const MinsumOptions& options)
      : search_{Bound::kWidestSum, options.gamma_init, options.tau, options.sign} {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    return send_deviation("minsum", search_, kernels, round, out);
  }

 private:
  DeviationSearch search_;
};

}  // namespace

Result<NamedAttack> make_minsum(const MinsumOptions& options) {
  return make_named<NamedAttack, Minsum>(options);
}

}  // namespace boba
