#include "boba/attacks/gauss.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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
    double mean = options_.mean;
    if (options_.on == GaussOptions::On::kParameters) {
      if (!(round.learning_rate > 0) || !std::isfinite(round.learning_rate)) {
        return invalid_argument(fmt::format(
            "gauss(on=parameters) needs the round's learning rate; got {}", round.learning_rate));
      }
      sigma /= round.learning_rate;
      mean /= round.learning_rate;
    }
    OutputPass all;
    UpdateMatrix ones;
    if (mean != 0) {
      ones = kernels.make_rows(out[0].dtype(), 1, out[0].length());
      kernels.fill(ones.row(0), 1);
    }
    for (std::size_t j = 0; j < out.size(); ++j) {
      const StreamKey key{.seed = round.seed,
                          .round = round.number,
                          .client = static_cast<std::uint32_t>(j),
                          .purpose = Purpose::kGauss};
      all.finite = kernels.normal(key, sigma, out[j]).finite && all.finite;
      if (mean == 0) continue;
      all.finite = kernels.combine(ones.view(), {&mean, 1}, 1, out[j]).finite && all.finite;
    }
    std::vector<NamedValue> measures = {{"sigma", sigma}};
    if (mean != 0) measures.push_back({"mean", mean});
    return report(std::move(measures), all);
  }

  bool looks_at_honest() const override { return false; }

 private:
  GaussOptions options_;
};

}  // namespace

Result<NamedAttack> make_gauss(const GaussOptions& options) {
  return make_named<NamedAttack, Gauss>(options);
}

}  // namespace boba
