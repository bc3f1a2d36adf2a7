#include "boba/attacks/lie.h"

#include <fmt/format.h>

#include "boba/attacks/parts.h"
#include "boba/core/random.h"

namespace boba {
namespace {

class Lie final : public Attack {
 public:
  explicit Lie(const LieOptions& options) : options_(options) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    if (Result<void> some = needs_honest("lie", round.honest); !some) return some.error();
    const Result<double> z = factor_for(round.honest.rows(), out.size());
    if (!z) return z.error();
    const OutputPass pass = kernels.moments(round.honest, 1, factor(options_.sign) * *z, out[0]);
    if (Result<void> finite = needs_finite("lie", pass.scan); !finite) return finite.error();
    send_first_to_all(kernels, out);
    return report({{"z", *z}}, pass);
  }

  Result<void> admits(std::size_t honest, std::size_t byzantine) const override {
    const Result<double> z = factor_for(honest, byzantine);
    return z ? Result<void>() : z.error();
  }

 private:
  Result<double> factor_for(std::size_t honest, std::size_t byzantine) const {
    return options_.z == 0 ? lie_z(honest, byzantine) : options_.z;
  }

  LieOptions options_;
};

}  // namespace

Result<double> lie_z(std::size_t h, std::size_t b) {
  const std::size_t n = h + b;
  const std::size_t half = n / 2 + 1;
  if (n > half && n - half < h) {
    return normal_quantile(static_cast<double>(n - half) / static_cast<double>(h));
  }
  return invalid_argument(
      fmt::format("lie needs 0 < (n - floor(n/2 + 1)) / (n - b) < 1; got ({} - {}) / ({} - {}) "
                  "with {} honest clients; give z yourself",
                  n, half, n, b, h));
}

Result<NamedAttack> make_lie(const LieOptions& options) {
  return make_named<NamedAttack, Lie>(options);
}

}  // namespace boba
