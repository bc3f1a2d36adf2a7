#include "boba/attacks/simplex.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "boba/attacks/corners.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class Simplex final : public Attack {
 public:
  explicit Simplex(const SimplexOptions& options) : options_(options) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    const bool server = looks_at_server();
    const Result<AttackSpace> space =
        attack_space("simplex", kernels, round,
                     server ? "classes=c to look for c corners among the honest updates" : "");
    if (!space) return space.error();
    if (options_.corners == SimplexOptions::Corners::kLabels) {
      if (round.label_mixes.empty()) {
        return invalid_argument(
            "simplex(corners=labels) needs the label mixes of the honest clients; a simulation "
            "knows them");
      }
      return send(kernels, *space, corners_of_labels(*space, round.label_mixes), out);
    }
    return send(kernels, *space,
                server ? corners_at_server(*space)
                       : corners_among_honest(*space, static_cast<std::size_t>(options_.classes)),
                out);
  }

  bool looks_at_server() const override {
    return options_.classes == 0 && options_.corners == SimplexOptions::Corners::kServer;
  }

 private:
  // corners: weights of the space's rows, a column for each.
  Result<AttackReport> send(const Kernels& kernels, const AttackSpace& space,
                            const MatrixXd& corners, std::span<const MutableRow> out) const {
    const Index c = corners.cols();
    const double others = options_.p_min + options_.margin;
    const double own = 1 - static_cast<double>(c - 1) * others;
    MatrixXd shares = MatrixXd::Constant(c, c, others);  // column v: class v has its own share
    shares.diagonal().setConstant(own);
    const MatrixXd mixes = corners * shares;
    const VectorXd away = (mixes.transpose() * space.products * mixes).diagonal();
    const bool furthest = options_.aim == SimplexOptions::Aim::kFurthest;
    const std::size_t best =
        first_largest(furthest ? away : -(mixes.transpose() * space.mean_dot).eval());
    const VectorXd weights = mixes.col(static_cast<Index>(best));
    const OutputPass pass = kernels.combine(
        space.rows.view(), {weights.data(), static_cast<std::size_t>(weights.size())}, 0, out[0]);
    send_first_to_all(kernels, out);
    return report({{"class", static_cast<double>(best)},
                   {"corners", static_cast<double>(c)},
                   {"share", own},
                   {"distance", std::sqrt(std::max(0.0, away(static_cast<Index>(best))))}},
                  pass);
  }

  SimplexOptions options_;
};

}  // namespace

Result<NamedAttack> make_simplex(const SimplexOptions& options) {
  return make_named<NamedAttack, Simplex>(options);
}

}  // namespace boba
