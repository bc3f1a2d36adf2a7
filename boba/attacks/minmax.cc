#include "boba/attacks/minmax.h"

#include "boba/attacks/deviation.h"

namespace boba {
namespace {

class Minmax final : public Attack {
 public:
  explicit Minmax(const MinmaxOptions& options)
      : search_{Bound::kWidestPair, options.gamma_init, options.tau, options.sign} {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    return send_deviation("minmax", search_, kernels, round, out);
  }

 private:
  DeviationSearch search_;
};

}  // namespace

Result<NamedAttack> make_minmax(const MinmaxOptions& options) {
  return make_named<NamedAttack, Minmax>(options);
}

}  // namespace boba
