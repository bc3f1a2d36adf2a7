#include "boba/rules/label_mix.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "boba/algebra/dense.h"

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

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Median distance of the clients from their coordinate-wise median. A minority of clients cannot
// stretch it, even one that moved the subspace's point.
double spread(const MatrixXd& x) {
  std::vector<double> values(static_cast<std::size_t>(x.cols()));
  VectorXd centre(x.rows());
  for (Index k = 0; k < x.rows(); ++k) {
    for (Index i = 0; i < x.cols(); ++i) values[static_cast<std::size_t>(i)] = x(k, i);
    centre(k) = median(values);
  }
  for (Index i = 0; i < x.cols(); ++i) {
    values[static_cast<std::size_t>(i)] = (x.col(i) - centre).norm();
  }
  return median(values);
}

// The pseudo-inverse of the differences between the corners, without singular values up to the
// cutoff. Notes the singular values in the result.
MatrixXd inverse_of(const MatrixXd& differences, double cutoff, LabelMixes& result) {
  const Index size = std::min(differences.rows(), differences.cols());
  if (differences.rows() == differences.cols()) {
    // Mostly the matrix is far from singular and can be inverted itself.
    const auto squares = algebra::squared_singular_values(differences.transpose() * differences);
    if (squares && (*squares)(0) > 2 * cutoff * cutoff) {
      for (Index k = size; k-- > 0;) result.singular_values.push_back(std::sqrt((*squares)(k)));
      result.used = result.singular_values.size();
      return differences.partialPivLu().inverse();
    }
  }
  const algebra::ThinSvd svd = algebra::thin_svd(differences);
  const VectorXd& sigma = svd.values;
  result.singular_values.assign(sigma.data(), sigma.data() + sigma.size());
  VectorXd inverse = VectorXd::Zero(sigma.size());
  for (Index k = 0; k < sigma.size(); ++k) {
    if (!(sigma(k) > cutoff)) continue;
    inverse(k) = 1 / sigma(k);
    ++result.used;
  }
  return svd.v * inverse.asDiagonal() * svd.u.transpose();
}

// A vector or matrix over the joined rows, as one over the rows before.
MatrixXd unjoined(const MatrixXd& joined, std::size_t clients, std::size_t parts) {
  const auto n = static_cast<Index>(clients);
  const auto m = static_cast<Index>(parts);
  MatrixXd all(n + (joined.rows() - n) * m, joined.cols());
  all.topRows(n) = joined.topRows(n);
  for (Index z = n; z < joined.rows(); ++z) {
    all.middleRows(n + (z - n) * m, m) = joined.row(z).replicate(m, 1) / static_cast<double>(m);
  }
  return all;
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
  const MatrixXd inverse = inverse_of(corners * q, kCutoff * spread(x), result);
  const VectorXd centre = corners.rowwise().mean();
  const MatrixXd shifted = x.colwise() - centre;
  const MatrixXd back = q * inverse;
  result.shares.noalias() += back * shifted;
  return result;
}

double low_share_of_parts(const Gram& gram, const Subspace& subspace, std::size_t parts) {
  const auto m = static_cast<Index>(parts);
  const auto servers = static_cast<Index>(gram.servers());
  const Index c = servers / m;
  const auto size = static_cast<Index>(gram.size());
  const Eigen::Map<const MatrixXd> k(gram.centred().data(), size, size);
  const MatrixXd w = unjoined(subspace.w, gram.clients(), parts);
  const VectorXd point = k * unjoined(subspace.m, gram.clients(), parts);
  // Coordinates of the parts, and of each class's mean of them.
  const MatrixXd x = w.transpose() * (k.rightCols(servers).colwise() - point);
  MatrixXd mean = MatrixXd::Zero(x.rows(), c);
  for (Index z = 0; z < c; ++z) mean.col(z) = x.middleCols(z * m, m).rowwise().mean();

  std::vector<double> least;
  for (Index j = 0; j < m; ++j) {
    Projection one;
    one.x.resize(x.rows(), 2 * c);
    for (Index z = 0; z < c; ++z) {
      const auto part = x.col(z * m + j);
      one.x.col(z) = part;
      one.x.col(c + z) = (static_cast<double>(m) * mean.col(z) - part) / static_cast<double>(m - 1);
    }
    const LabelMixes mixes = label_mixes(one, static_cast<std::size_t>(c));
    if (mixes.used == 0) return 0;
    for (Index z = 0; z < c; ++z) least.push_back(mixes.shares.col(z).minCoeff());
  }
  const auto quartile = least.begin() + static_cast<std::ptrdiff_t>(least.size() / 4);
  std::nth_element(least.begin(), quartile, least.end());
  const auto count = static_cast<double>(m);
  return *quartile * 2 * std::sqrt(count - 1) / count;
}

}  // namespace boba
