#include "boba/attacks/gauss.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "boba/attacks/make.h"
#include "boba/attacks/parts.h"
#include "boba/core/random.h"

namespace boba {
namespace {

class Gauss final : public Attack {
 public:
  explicit Gauss(const GaussOptions& options) : options_(options) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    double sigma = options_.sigma;
    if (options_.on == GaussOptions::On::kParameters) {
      if (!(round.learning_rate > 0) || !std::isfinite(round.learning_rate)) {
        return invalid_argument(fmt::format(
            "gauss(on=parameters) needs the round's learning rate; got {}", round.learning_rate));
      }
      sigma /= round.learning_rate;
    }
    OutputPass all;
    for (std::size_t j = 0; j < out.size(); ++j) {
      const StreamKey key{.seed = round.seed,
                          .round = round.number,
                          .client = static_cast<std::uint32_t>(j),
                          .purpose = Purpose::kGauss};
      all.finite = kernels.normal(key, sigma, out[j]).finite && all.finite;
    }
    return report({{"sigma", sigma}}, all);
  }

 private:
  GaussOptions options_;
};

}  // namespace

Result<NamedAttack> make_gauss(const GaussOptions& options) { return make_named<Gauss>(options); }

}  // namespace boba
