#include "boba/attacks/ipm.h"

#include <vector>

#include "boba/attacks/parts.h"

namespace boba {
namespace {

class Ipm final : public Attack {
 public:
  explicit Ipm(const IpmOptions& options) : options_(options) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    if (Result<void> some = needs_honest("ipm", round.honest); !some) return some.error();
    const std::size_t h = round.honest.rows();
    const std::vector<double> weights(h, -options_.gamma / static_cast<double>(h));
    const OutputPass pass = kernels.combine(round.honest, weights, 0, out[0]);
    if (Result<void> finite = needs_finite("ipm", pass.scan); !finite) return finite.error();
    send_first_to_all(kernels, out);
    return report({{"gamma", options_.gamma}}, pass);
  }

 private:
  IpmOptions options_;
};

}  // namespace

Result<NamedAttack> make_ipm(const IpmOptions& options) {
  return make_named<NamedAttack, Ipm>(options);
}

}  // namespace boba
