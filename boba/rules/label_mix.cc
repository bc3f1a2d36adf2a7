#include "boba/rules/label_mix.h"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kCutoff = 1e-6;

// Orthonormal basis of the complement of (1, ..., 1): c by c - 1 (Helmert's columns).
MatrixXd sum_zero_basis(Index c) {
  MatrixXd q = MatrixXd::Zero(c, c - 1);
  for (Index k = 0; k + 1 < c; ++k) {
    const auto size = static_cast<double>(k + 1);
    q.col(k).head(k + 1).setConstant(1 / std::sqrt(size * (size + 1)));
    q(k + 1, k) = -size / std::sqrt(size * (size + 1));
  }
  return q;
}

// Median distance from the subspace's point: no minority of clients can stretch it.
double spread(const MatrixXd& x) {
  std::vector<double> distances;
  for (Index i = 0; i < x.cols(); ++i) distances.push_back(x.col(i).norm());
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

}  // namespace

LabelMixes label_mixes(const Projection& projection, std::size_t clients) {
  const auto n = static_cast<Index>(clients);
  const Index c = projection.x.cols() - n;
  const MatrixXd x = projection.x.leftCols(n);
  const MatrixXd corners = projection.x.rightCols(c);
  LabelMixes result;
  result.shares = MatrixXd::Constant(c, n, 1.0 / static_cast<double>(c));
  if (c == 1 || x.rows() == 0) return result;

  const MatrixXd q = sum_zero_basis(c);
  const Eigen::JacobiSVD<MatrixXd> svd(corners * q, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const VectorXd& sigma = svd.singularValues();
  result.singular_values.assign(sigma.data(), sigma.data() + sigma.size());
  const double cutoff = kCutoff * spread(x);
  VectorXd inverse = VectorXd::Zero(sigma.size());
  for (Index k = 0; k < sigma.size(); ++k) {
    if (!(sigma(k) > cutoff)) continue;
    inverse(k) = 1 / sigma(k);
    ++result.used;
  }
  const VectorXd centre = corners.rowwise().mean();
  const MatrixXd z =
      svd.matrixV() * inverse.asDiagonal() * svd.matrixU().transpose() * (x.colwise() - centre);
  result.shares += q * z;
  return result;
}

}  // namespace boba
