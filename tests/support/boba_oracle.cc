#include "tests/support/boba_oracle.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boba/algebra/dense.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

struct Plane {
  RowVectorXd mean;
  MatrixXd basis;  // d by rank
  VectorXd sigma;
};

Plane fit(const MatrixXd& rows, Index dimension, double tolerance) {
  Plane plane;
  plane.mean = rows.colwise().mean();
  const algebra::ThinSvd svd = algebra::thin_svd(rows.rowwise() - plane.mean);
  plane.sigma = svd.values;
  const double least = plane.sigma(0) * plane.sigma(0) * tolerance;
  Index rank = 0;
  while (rank < std::min(dimension, rows.rows() - 1) &&
         plane.sigma(rank) * plane.sigma(rank) > least) {
    ++rank;
  }
  plane.basis = svd.v.leftCols(rank);
  return plane;
}

MatrixXd coordinates(const MatrixXd& rows, const Plane& plane) {
  return (rows.rowwise() - plane.mean) * plane.basis;
}

std::vector<double> residuals(const MatrixXd& rows, const Plane& plane) {
  const MatrixXd off =
      (rows.rowwise() - plane.mean) - coordinates(rows, plane) * plane.basis.transpose();
  const VectorXd norms = off.rowwise().norm();
  return {norms.data(), norms.data() + norms.size()};
}

MatrixXd pick(const MatrixXd& rows, const std::vector<Index>& set) {
  MatrixXd picked(static_cast<Index>(set.size()), rows.cols());
  for (std::size_t k = 0; k < set.size(); ++k) picked.row(static_cast<Index>(k)) = rows.row(set[k]);
  return picked;
}

std::vector<Index> nearest(const std::vector<double>& values, std::size_t count, double* margin) {
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto at = [&](Index i) { return values[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return at(a) < at(b); });
  if (count < order.size()) {
    const double gap = (at(order[count]) - at(order[count - 1])) / at(order[count]);
    *margin = std::min(*margin, gap);
  }
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

// The solution of least norm of the least squares problem; singular values that are rounding count
// as 0.
VectorXd least_squares(const algebra::ThinSvd& svd, const VectorXd& right) {
  VectorXd along = svd.u.transpose() * right;
  for (Index k = 0; k < along.size(); ++k) {
    along(k) = svd.values(k) > 1e-13 * svd.values(0) ? along(k) / svd.values(k) : 0;
  }
  return svd.v * along;
}

// p with sum 1 that brings the corners' mix nearest to x: the paper's stacked inverse where the
// corners are in general position, else the mix of least norm.
VectorXd shares_of(const MatrixXd& corners, const VectorXd& x) {
  const Index c = corners.rows();
  if (corners.cols() == c - 1) {
    MatrixXd stacked(c, c);
    stacked << corners.transpose(), RowVectorXd::Ones(c);
    const algebra::ThinSvd svd = algebra::thin_svd(stacked);
    if (svd.values(c - 1) > 1e-13 * svd.values(0)) {
      VectorXd right(c);
      right << x, 1;
      return least_squares(svd, right);
    }
  }
  const VectorXd middle = VectorXd::Constant(c, 1.0 / static_cast<double>(c));
  if (corners.cols() == 0) return middle;
  // Orthonormal columns that sum to 0.
  const MatrixXd centring = MatrixXd::Identity(c, c) - MatrixXd::Constant(c, c, middle(0));
  const MatrixXd q = algebra::orthonormal(centring.leftCols(c - 1)).columns;
  return middle + q * least_squares(algebra::thin_svd(corners.transpose() * q),
                                    VectorXd(x - corners.transpose() * middle));
}

Plane search(const MatrixXd& updates, const MatrixXd& server, const BobaOracleOptions& options,
             BobaOracle& record, std::vector<Index>& set) {
  const Index dimension = server.rows() - 1;
  const std::size_t keep = static_cast<std::size_t>(updates.rows()) - options.f;
  Plane plane = fit(server, dimension, options.rank_tolerance);
  const auto note = [&](const std::vector<Index>& chosen) {
    double loss = 0;
    const std::vector<double> all = residuals(updates, plane);
    for (Index i : chosen)
      loss += all[static_cast<std::size_t>(i)] * all[static_cast<std::size_t>(i)];
    record.trimmed_loss.push_back(loss);
  };
  if (options.search == OracleSearch::kExhaustive) {
    std::vector<bool> mask(static_cast<std::size_t>(updates.rows()), false);
    std::fill(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(keep), true);
    double least = std::numeric_limits<double>::infinity();
    do {
      std::vector<Index> chosen;
      for (std::size_t i = 0; i < mask.size(); ++i) {
        if (mask[i]) chosen.push_back(static_cast<Index>(i));
      }
      const Plane candidate = fit(pick(updates, chosen), dimension, options.rank_tolerance);
      const double loss =
          candidate.sigma.tail(candidate.sigma.size() - candidate.basis.cols()).squaredNorm();
      if (loss < least) {
        least = loss;
        plane = candidate;
        set = chosen;
      }
    } while (std::prev_permutation(mask.begin(), mask.end()));
    note(set);
    return plane;
  }
  std::vector<Index> chosen = nearest(residuals(updates, plane), keep, &record.residual_margin);
  note(chosen);
  if (options.search == OracleSearch::kServer) return plane;
  for (int i = 0; i < options.max_iter; ++i) {
    set = chosen;
    plane = fit(pick(updates, set), dimension, options.rank_tolerance);
    chosen = nearest(residuals(updates, plane), keep, &record.residual_margin);
    note(chosen);
    if (chosen == set) break;
  }
  return plane;
}

}  // namespace

BobaOracle boba_oracle(const MatrixXd& updates, const MatrixXd& server,
                       const BobaOracleOptions& options) {
  const auto n = static_cast<std::size_t>(updates.rows());
  BobaOracle result;
  std::vector<Index> set;
  const Plane plane = search(updates, server, options, result, set);
  result.in_fit.assign(n, false);
  for (Index i : set) result.in_fit[static_cast<std::size_t>(i)] = true;
  result.residual = residuals(updates, plane);
  result.singular_values.assign(plane.sigma.data(), plane.sigma.data() + plane.basis.cols());

  const MatrixXd x = coordinates(updates, plane);
  const MatrixXd corners = coordinates(server, plane);
  result.shares.resize(updates.rows(), server.rows());
  result.accepted.assign(n, true);
  std::vector<double> badness(n);
  std::size_t passed = n;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<Index>(i);
    result.shares.row(row) = shares_of(corners, x.row(row).transpose()).transpose();
    badness[i] = -result.shares.row(row).minCoeff();
    if (!options.p_min) continue;
    result.share_margin = std::min(result.share_margin, std::abs(-badness[i] - *options.p_min));
    result.accepted[i] = -badness[i] >= *options.p_min;
    if (!result.accepted[i]) --passed;
  }
  const std::size_t out = options.slack * options.f;
  const std::size_t least = out < n ? n - out : 1;
  if (passed < least) {
    double ignored = 1;
    for (Index i : nearest(badness, least, &ignored)) {
      result.accepted[static_cast<std::size_t>(i)] = true;
    }
  }
  RowVectorXd mean = RowVectorXd::Zero(x.cols());
  double count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!result.accepted[i]) continue;
    mean += x.row(static_cast<Index>(i));
    ++count;
  }
  result.out = (plane.mean + mean / count * plane.basis.transpose()).transpose();
  return result;
}

}  // namespace boba::test
