#include "boba/attacks/sleeper.h"

#include <utility>
#include <vector>

#include "boba/attacks/parts.h"

namespace boba {
namespace {

class Sleeper final : public Attack {
 public:
  Sleeper(const SleeperOptions& options, AttackPtr attack)
      : options_(options), attack_(std::move(attack)) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    if (round.number > static_cast<std::uint32_t>(options_.rounds)) {
      return attack_->forge(kernels, round, out);
    }
    const std::size_t h = round.honest.rows();
    if (Result<void> some = needs_honest("sleeper", round.honest); !some) return some.error();
    OutputPass all;
    for (std::size_t j = 0; j < out.size(); ++j) {
      std::vector<double> weights(h);
      weights[j % h] += 0.5;
      weights[(j + h / 2) % h] += 0.5;
      const OutputPass pass = kernels.combine(round.honest, weights, 0, out[j]);
      if (Result<void> finite = needs_finite("sleeper", pass.scan); !finite) return finite.error();
      all.finite = all.finite && pass.finite;
    }
    return report({{"asleep", 1}}, all);
  }

  Result<void> admits(std::size_t honest, std::size_t byzantine) const override {
    return attack_->admits(honest, byzantine);
  }
  bool sends_numbers() const override { return attack_->sends_numbers(); }
  bool looks_at_server() const override { return attack_->looks_at_server(); }

 private:
  SleeperOptions options_;
  AttackPtr attack_;
};

}  // namespace

Result<NamedAttackStage> make_sleeper(const SleeperOptions& options) {
  if (Result<void> good = check_options(options); !good) return good.error();
  return NamedAttackStage{[options](AttackPtr attack) -> AttackPtr {
                            return std::make_shared<Sleeper>(options, std::move(attack));
                          },
                          canonical(options)};
}

}  // namespace boba
