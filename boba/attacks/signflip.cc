#include "boba/attacks/signflip.h"

#include <vector>

#include "boba/attacks/parts.h"

namespace boba {
namespace {

class Signflip final : public Attack {
 public:
  explicit Signflip(const SignflipOptions& options) : options_(options) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    if (Result<void> some = needs_honest("signflip", round.honest); !some) return some.error();
    if (options_.of == SignflipOptions::Of::kMean) return negated_mean(kernels, round, out);
    const std::size_t h = round.honest.rows();
    std::vector<double> weights(h);
    OutputPass all;
    for (std::size_t j = 0; j < out.size(); ++j) {
      weights[j % h] = -options_.scale;
      const OutputPass pass = kernels.combine(round.honest, weights, 0, out[j]);
      weights[j % h] = 0;
      if (Result<void> finite = needs_finite("signflip", pass.scan); !finite) {
        return finite.error();
      }
      all.finite = all.finite && pass.finite;
    }
    return report({{"scale", options_.scale}}, all);
  }

 private:
  Result<AttackReport> negated_mean(const Kernels& kernels, const AttackRound& round,
                                    std::span<const MutableRow> out) const {
    const std::size_t h = round.honest.rows();
    const std::vector<double> weights(h, -options_.scale / static_cast<double>(h));
    const OutputPass pass = kernels.combine(round.honest, weights, 0, out[0]);
    if (Result<void> finite = needs_finite("signflip", pass.scan); !finite) return finite.error();
    send_first_to_all(kernels, out);
    return report({{"scale", options_.scale}}, pass);
  }

  SignflipOptions options_;
};

}  // namespace

Result<NamedAttack> make_signflip(const SignflipOptions& options) {
  return make_named<NamedAttack, Signflip>(options);
}

}  // namespace boba
