#include "boba/attacks/corners.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "boba/algebra/dense.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Squared distances below this part of the first are rounding, not another corner.
constexpr double kNoCorner = 1e-10;
// Values that agree to this are a tie, which goes to the lower index.
constexpr double kTie = 1e-9;
// Label mixes that vary less than this part along a direction do not tell its classes apart.
constexpr double kSameMix = 1e-9;

Result<void> check_finite(std::string_view attack, const Kernels& kernels, const UpdateView& rows,
                          std::size_t h) {
  const std::vector<RowScan> scan = kernels.dots(rows, UpdateView(), {}).scan;
  const std::span<const RowScan> all(scan);
  if (Result<void> good = needs_finite(attack, all.first(h)); !good) return good;
  for (std::size_t z = h; z < all.size(); ++z) {
    if (all[z].finite) continue;
    return invalid_argument(
        fmt::format("{} needs finite server gradients; row {} has NaN or infinity", attack, z - h));
  }
  return {};
}

}  // namespace

std::size_t first_largest(const VectorXd& values) {
  const double most = values.maxCoeff();
  Index i = 0;
  while (values(i) < most - kTie * std::abs(most)) ++i;
  return static_cast<std::size_t>(i);
}

Result<AttackSpace> attack_space(std::string_view attack, const Kernels& kernels,
                                 const AttackRound& round, std::string_view instead) {
  if (Result<void> some = needs_honest(attack, round.honest); !some) return some.error();
  if (!instead.empty() && round.server.empty()) {
    return invalid_argument(
        fmt::format("{} needs the server's class gradients, or {}", attack, instead));
  }
  AttackSpace space;
  space.honest = round.honest.rows();
  space.rows = RowList(round.honest);
  if (!instead.empty()) space.rows.add(round.server);
  const UpdateView rows = space.rows.view();
  if (Result<void> good = check_finite(attack, kernels, rows, space.honest); !good) {
    return good.error();
  }
  std::vector<double> mean(rows.rows());
  std::fill_n(mean.begin(), space.honest, 1.0 / static_cast<double>(space.honest));
  const GramPass pass = kernels.gram(rows, mean);
  const auto size = static_cast<Index>(rows.rows());
  space.products = Eigen::Map<const MatrixXd>(pass.centred.data(), size, size);
  space.mean_dot = Eigen::Map<const VectorXd>(pass.origin_dot.data(), size);
  space.mean_sq = pass.origin_sq;
  if (!space.products.allFinite()) {
    return invalid_argument(
        fmt::format("{}: products of the updates leave the range of double", attack));
  }
  return space;
}

MatrixXd corners_at_server(const AttackSpace& space) {
  const auto h = static_cast<Index>(space.honest);
  const Index c = space.products.rows() - h;
  MatrixXd weights = MatrixXd::Zero(space.products.rows(), c);
  weights.bottomRows(c).setIdentity();
  return weights;
}

MatrixXd corners_among_honest(const AttackSpace& space, std::size_t count) {
  const auto h = static_cast<Index>(space.honest);
  MatrixXd k = space.products.topLeftCorner(h, h);
  std::vector<std::size_t> corners = {first_largest(k.diagonal())};
  const auto first = static_cast<Index>(corners[0]);
  const VectorXd to_first = k.col(first);
  const double own = k(first, first);
  k.colwise() -= to_first;
  k.rowwise() -= to_first.transpose();
  k.array() += own;
  const double scale = k.diagonal().maxCoeff();
  while (corners.size() < count) {
    const std::size_t next = first_largest(k.diagonal());
    const auto i = static_cast<Index>(next);
    if (!(k(i, i) > kNoCorner * scale)) break;
    corners.push_back(next);
    const VectorXd column = k.col(i);
    k -= column * column.transpose() / k(i, i);
  }
  MatrixXd weights = MatrixXd::Zero(space.products.rows(), static_cast<Index>(corners.size()));
  for (std::size_t z = 0; z < corners.size(); ++z) {
    weights(static_cast<Index>(corners[z]), static_cast<Index>(z)) = 1;
  }
  return weights;
}

MatrixXd corners_of_labels(const AttackSpace& space, std::span<const double> label_mixes) {
  const auto h = static_cast<Index>(space.honest);
  const Index c = static_cast<Index>(label_mixes.size()) / h;
  const MatrixXd mixes = Eigen::Map<const MatrixXd>(label_mixes.data(), c, h).transpose();
  const algebra::SymmetricEigen all = algebra::symmetric_eigen(mixes.transpose() * mixes);
  VectorXd inverse = all.values;
  const double largest = all.values(c - 1);
  for (double& value : inverse) value = value > kSameMix * largest ? 1 / value : 0;
  MatrixXd weights = MatrixXd::Zero(space.products.rows(), c);
  weights.topRows(h) = mixes * (all.vectors * inverse.asDiagonal() * all.vectors.transpose());
  const double mean = 1 / static_cast<double>(h);
  for (Index z = 0; z < c; ++z) {
    // Affine combinations. Where the mixes do not single a class out, its weights do not sum to 1.
    if (mixes.col(z).sum() > 0) {
      weights.col(z).head(h).array() += (1 - weights.col(z).sum()) * mean;
    } else {
      weights.col(z).head(h).setConstant(mean);
    }
  }
  return weights;
}

}  // namespace boba
