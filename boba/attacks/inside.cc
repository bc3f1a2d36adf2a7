#include "boba/attacks/inside.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "boba/algebra/dense.h"
#include "boba/algebra/simplex_fit.h"
#include "boba/attacks/corners.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Directions in which the corners differ less than this part of the largest are none.
constexpr double kNoDirection = 1e-10;

// The median distance of the honest updates from the simplex of these corners.
double typical_distance(const AttackSpace& space, const MatrixXd& corners) {
  const MatrixXd to_corners = space.products * corners;
  const algebra::SymmetricEigen all = algebra::symmetric_eigen(corners.transpose() * to_corners);
  const Index c = corners.cols();
  const double largest = std::max(0.0, all.values(c - 1));
  VectorXd lengths = VectorXd::Zero(c);
  VectorXd inverse = VectorXd::Zero(c);
  for (Index j = 0; j < c; ++j) {
    if (!(all.values(j) > kNoDirection * largest)) continue;
    lengths(j) = std::sqrt(all.values(j));
    inverse(j) = 1 / lengths(j);
  }
  algebra::SimplexFit fit(lengths.asDiagonal() * all.vectors.transpose());
  VectorXd shares = VectorXd::Constant(c, 1 / static_cast<double>(c));
  std::vector<double> distances;
  for (Index i = 0; i < static_cast<Index>(space.honest); ++i) {
    const VectorXd x =
        inverse.asDiagonal() * (all.vectors.transpose() * to_corners.row(i).transpose());
    const double beside = std::max(0.0, space.products(i, i) - x.squaredNorm());
    distances.push_back(std::sqrt(fit(x, shares) + beside));
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

class Inside final : public Attack {
 public:
  explicit Inside(const InsideOptions& options) : options_(options) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    const bool labels = !round.label_mixes.empty();
    const Result<AttackSpace> found = attack_space(
        "inside", kernels, round, labels ? "" : "the label mixes of the honest clients");
    if (!found) return found.error();
    const AttackSpace& space = *found;
    const MatrixXd corners =
        labels ? corners_of_labels(space, round.label_mixes) : corners_at_server(space);
    if (options_.corner >= corners.cols()) {
      return invalid_argument(fmt::format("inside: no class {}; the classes are 0..{}",
                                          options_.corner, corners.cols() - 1));
    }
    const bool furthest = options_.aim == InsideOptions::Aim::kFurthest;
    const VectorXd sq_away = (corners.transpose() * space.products * corners).diagonal();
    const VectorXd along = corners.transpose() * space.mean_dot;
    const auto label =
        options_.corner >= 0
            ? static_cast<Index>(options_.corner)
            : static_cast<Index>(first_largest(furthest ? sq_away : (-along).eval()));

    // The corner's weights, the mean's, and those of the direction beyond it.
    VectorXd mean = VectorXd::Zero(corners.rows());
    mean.head(static_cast<Index>(space.honest)).setConstant(1 / static_cast<double>(space.honest));
    const VectorXd corner = corners.col(label);
    const double away = std::sqrt(std::max(0.0, sq_away(label)));
    const double length = furthest ? away : std::sqrt(space.mean_sq);
    VectorXd beyond = VectorXd::Zero(corners.rows());
    if (length > 0) beyond = furthest ? ((corner - mean) / length).eval() : (-mean / length).eval();
    const double typical = typical_distance(space, corners);
    const double way = std::min(1.0, options_.speed * static_cast<double>(round.number));
    const VectorXd weights = mean + way * (corner - mean) + options_.reach * typical * beyond;
    const OutputPass pass = kernels.combine(
        space.rows.view(), {weights.data(), static_cast<std::size_t>(weights.size())}, 0, out[0]);
    send_first_to_all(kernels, out);
    return report({{"class", static_cast<double>(label)},
                   {"way", way},
                   {"typical_distance", typical},
                   {"corner_distance", away}},
                  pass);
  }

 private:
  InsideOptions options_;
};

}  // namespace

Result<NamedAttack> make_inside(const InsideOptions& options) {
  return make_named<NamedAttack, Inside>(options);
}

}  // namespace boba
