#include "boba/attacks/noise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "boba/attacks/parts.h"
#include "boba/core/random.h"

namespace boba {
namespace {

// The median over the rows of the squared distance to the nearest other row; 0 for a single row.
double typical_nearest(const GramPass& pass, std::size_t rows) {
  if (rows < 2) return 0;
  const auto at = [&](std::size_t i, std::size_t j) { return pass.centred[i * rows + j]; };
  std::vector<double> nearest(rows, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      if (j != i) nearest[i] = std::min(nearest[i], at(i, i) + at(j, j) - 2 * at(i, j));
    }
  }
  const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>(rows / 2);
  std::nth_element(nearest.begin(), middle, nearest.end());
  return std::max(0.0, *middle);
}

class Noise final : public Attack {
 public:
  Noise(const NoiseOptions& options, AttackPtr attack)
      : options_(options), attack_(std::move(attack)) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    Result<AttackReport> sent = attack_->forge(kernels, round, out);
    if (!sent || options_.size == 0) return sent;
    if (Result<void> some = needs_honest("noise", round.honest); !some) return some.error();
    const DotsPass norms = kernels.dots(round.honest, UpdateView(), {});
    if (Result<void> finite = needs_finite("noise", norms.scan); !finite) return finite.error();
    const std::size_t h = round.honest.rows();
    const GramPass pass =
        kernels.gram(round.honest, std::vector<double>(h, 1 / static_cast<double>(h)));
    const double norm = options_.size * std::sqrt(typical_nearest(pass, h));
    const double sigma = norm / std::sqrt(static_cast<double>(out[0].length()));
    add_noise(kernels, round, sigma, out);
    sent->measures.push_back({"noise", norm});
    return sent;
  }

  Result<void> admits(std::size_t honest, std::size_t byzantine) const override {
    return attack_->admits(honest, byzantine);
  }
  bool sends_numbers() const override { return attack_->sends_numbers(); }
  bool looks_at_server() const override { return attack_->looks_at_server(); }

 private:
  static void add_noise(const Kernels& kernels, const AttackRound& round, double sigma,
                        std::span<const MutableRow> out) {
    UpdateMatrix noise = kernels.make_rows(out[0].dtype(), 1, out[0].length());
    const double one = 1;
    for (std::size_t j = 0; j < out.size(); ++j) {
      kernels.normal({.seed = round.seed,
                      .round = round.number,
                      .client = static_cast<std::uint32_t>(j),
                      .purpose = Purpose::kNoise},
                     sigma, noise.row(0));
      kernels.combine(noise.view(), {&one, 1}, 1, out[j]);
    }
  }

  NoiseOptions options_;
  AttackPtr attack_;
};

}  // namespace

Result<NamedAttackStage> make_noise(const NoiseOptions& options) {
  if (Result<void> good = check_options(options); !good) return good.error();
  return NamedAttackStage{[options](AttackPtr attack) -> AttackPtr {
                            return std::make_shared<Noise>(options, std::move(attack));
                          },
                          canonical(options)};
}

}  // namespace boba
