#include "boba/attacks/mimic.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <vector>

#include "boba/algebra/dense.h"
#include "boba/attacks/parts.h"

namespace boba {
namespace {

struct Strongest {
  std::size_t client = 0;
  double projection = 0;  // squared
};

// With Kc the Gram matrix of the centred rows and (lambda, v) its top eigenpair, the top direction
// is u = C'v / sqrt(lambda), and <g_i - mean, u>^2 = lambda * v_i^2.
Result<Strongest> strongest(const Kernels& kernels, const UpdateView& honest) {
  // The origin of the Gram pass has to be finite, so the rows are looked at first.
  const DotsPass norms = kernels.dots(honest, UpdateView(), {});
  if (Result<void> finite = needs_finite("mimic", norms.scan); !finite) return finite.error();

  const auto h = static_cast<Eigen::Index>(honest.rows());
  const std::vector<double> mean(honest.rows(), 1.0 / static_cast<double>(h));
  const GramPass pass = kernels.gram(honest, mean);
  Eigen::MatrixXd k = Eigen::Map<const Eigen::MatrixXd>(pass.centred.data(), h, h);
  // The pass's origin is the mean rounded to the rows' type; this takes the rest off.
  k.rowwise() -= k.colwise().mean().eval();
  k.colwise() -= k.rowwise().mean().eval();
  if (!k.allFinite()) {
    return invalid_argument("mimic: products of the honest updates leave the range of double");
  }
  const algebra::SymmetricEigen all = algebra::symmetric_eigen(k);
  const double lambda = std::max(0.0, all.values(h - 1));
  const Eigen::VectorXd projections = lambda * all.vectors.col(h - 1).array().square();

  Strongest best{0, projections(0)};
  for (Eigen::Index i = 1; i < h; ++i) {
    // Equal up to rounding is a tie, which goes to the lower index.
    if (projections(i) > best.projection * (1 + 1e-9)) {
      best = {static_cast<std::size_t>(i), projections(i)};
    }
  }
  return best;
}

class Mimic final : public Attack {
 public:
  explicit Mimic(const MimicOptions& options) : options_(options) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    if (Result<void> some = needs_honest("mimic", round.honest); !some) return some.error();
    const std::size_t h = round.honest.rows();
    auto client = static_cast<std::size_t>(options_.client);
    std::vector<NamedValue> measures;
    if (options_.choose == MimicOptions::Choose::kStrongest) {
      const Result<Strongest> found = strongest(kernels, round.honest);
      if (!found) return found.error();
      client = found->client;
      measures.push_back({"projection", found->projection});
    } else if (Result<void> good = admits(h, out.size()); !good) {
      return good.error();
    }
    std::vector<double> weights(h);
    weights[client] = 1;
    const OutputPass pass = kernels.combine(round.honest, weights, 0, out[0]);
    if (Result<void> finite = needs_finite("mimic", pass.scan); !finite) return finite.error();
    send_first_to_all(kernels, out);
    measures.insert(measures.begin(), {"client", static_cast<double>(client)});
    return report(std::move(measures), pass);
  }

  Result<void> admits(std::size_t honest, std::size_t) const override {
    if (options_.choose == MimicOptions::Choose::kStrongest) return {};
    if (honest > static_cast<std::size_t>(options_.client)) return {};
    if (honest == 0) return invalid_argument("mimic needs at least 1 honest update; got none");
    return invalid_argument(fmt::format("mimic: no honest client {}; the honest ones are 0..{}",
                                        options_.client, honest - 1));
  }

 private:
  MimicOptions options_;
};

}  // namespace

Result<NamedAttack> make_mimic(const MimicOptions& options) {
  return make_named<NamedAttack, Mimic>(options);
}

}  // namespace boba
