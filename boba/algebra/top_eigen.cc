#include "boba/algebra/top_eigen.h"

#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>

#include "boba/algebra/dense.h"
#include "boba/algebra/loops.h"

namespace boba::algebra {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix = Eigen::Map<const MatrixXd>;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr Index kFirstVectors = 32;  // that there is room for; more comes when it is needed
constexpr double kCertified = 100;   // a result may have a residual of so many tolerances

// Entries of either sign between 1/2 and 1, without a pattern that an input could share.
VectorXd start_vector(Index n) {
  VectorXd start(n);
  for (Index i = 0; i < n; ++i) {
    std::uint64_t x = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    x ^= x >> 31;
    const double size = 0.5 + 0.5 * static_cast<double>(x >> 12) * 0x1p-52;
    start(i) = (x & 1) == 0 ? size : -size;
  }
  return start.normalized();
}

// The symmetric tridiagonal matrix that Lanczos builds.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  // beside[k] joins k and k + 1

  // The pivots of bound * I - T without exchange; all positive if and only if T < bound.
  bool pivots(double bound, std::vector<double>& pivot) const {
    pivot.resize(diagonal.size());
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      pivot[k] = bound - diagonal[k] - (k > 0 ? beside[k - 1] * beside[k - 1] / pivot[k - 1] : 0);
      if (!(pivot[k] > 0)) return false;
    }
    return true;
  }

  // An upper bound of the eigenvalues, tight to rounding or the given part of their size:
  // bisection.
  double largest(double precision) const {
    double low = *std::max_element(diagonal.begin(), diagonal.end());
    double high = low;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      const double left = k > 0 ? std::abs(beside[k - 1]) : 0;
      const double right = k + 1 < diagonal.size() ? std::abs(beside[k]) : 0;
      high = std::max(high, diagonal[k] + left + right);
    }
    std::vector<double> pivot;
    const double size = std::max(std::abs(low), std::abs(high));
    high += 4 * kEpsilon * size;
    while (high - low > std::max(4 * kEpsilon, precision) * size) {
      const double middle = low + (high - low) / 2;
      if (!(middle > low && middle < high)) break;
      (pivots(middle, pivot) ? high : low) = middle;
    }
    return high;
  }

  // The unit vector to the largest eigenvalue, given a bound just above it: inverse iteration.
  VectorXd top_vector(double bound) const {
    const auto m = static_cast<Index>(diagonal.size());
    std::vector<double> pivot;
    // Ends long before the limit; without one, numbers out of range would never let it end.
    for (double margin = 1; margin < 0x1p60 && !pivots(bound, pivot); margin *= 2) {
      bound += margin * kEpsilon * std::max(std::abs(bound), std::numeric_limits<double>::min());
    }
    VectorXd x = VectorXd::Constant(m, 1 / std::sqrt(static_cast<double>(m)));
    for (int turn = 0; turn < 3; ++turn) {
      for (Index k = 1; k < m; ++k) x(k) += beside[k - 1] / pivot[k - 1] * x(k - 1);
      for (Index k = m; k-- > 0;) {
        x(k) = (x(k) + (k + 1 < m ? beside[k] * x(k + 1) : 0)) / pivot[k];
      }
      x /= x.lpNorm<Eigen::Infinity>();
      x.normalize();
    }
    return x;
  }
};

TopEigen dense(const MatrixXd& matrix) {
  const SymmetricEigen all = symmetric_eigen(matrix);
  const Index last = matrix.rows() - 1;
  const VectorXd v = all.vectors.col(last);
  TopEigen top;
  top.value = all.values(last);
  top.vector.assign(v.data(), v.data() + v.size());
  top.residual = (matrix * v - top.value * v).norm();
  top.dense = true;
  return top;
}

// The matrix with the known vectors' values set to 0.
MatrixXd without(const Matrix& m, const Rows& known) {
  const VectorXd values = (known * m).cwiseProduct(known).rowwise().sum();
  return m - known.transpose() * values.asDiagonal() * known;
}

// Makes x orthogonal to the first `count` rows of the basis, which are orthonormal. coefficients
// and sum are room to work in.
void remove(const Rows& basis, std::size_t count, VectorXd& x, VectorXd& coefficients,
            VectorXd& sum) {
  const auto n = static_cast<std::size_t>(x.size());
  loops().apply(basis.data(), n, x.data(), coefficients.data(), count, n);
  loops().multiply({coefficients.data(), count, 1}, basis.data(), n, sum.data(), n, 1, count, n);
  x -= sum;
}

TopEigen lanczos(std::span<const double> matrix, std::size_t n, double tolerance,
                 std::span<const double> known, double largest_entry) {
  const auto size = static_cast<Index>(n);
  const Matrix m(matrix.data(), size, size);
  const std::size_t held = known.size() / n;
  const auto first = static_cast<Index>(held);

  // The known vectors, then those of the iteration, one in each row.
  Rows basis(std::min(size, first + kFirstVectors), size);
  std::copy(known.begin(), known.end(), basis.data());
  VectorXd v = start_vector(size);
  VectorXd coefficients(size);
  VectorXd sum(size);
  for (int turn = 0; turn < 2 && held > 0; ++turn) remove(basis, held, v, coefficients, sum);
  basis.row(first) = v.normalized().transpose();
  TopEigen top;
  if (largest_entry == 0) {
    top.vector.assign(basis.data() + held * n, basis.data() + (held + 1) * n);
    return top;
  }
  const auto& table = loops();
  // A value to a residual r is right to r squared; the vector comes from inverse iteration.
  const double precision = tolerance * tolerance / 16;
  Tridiagonal t;
  double value = 0;
  VectorXd small;
  const Index most = size - first;
  Index next_check = std::min<Index>(10, most);
  for (Index k = 0;; ++k) {
    const Index row = first + k;
    const double* q = basis.data() + row * size;
    table.apply(m.data(), n, q, v.data(), n, n);
    table.apply(v.data(), n, q, coefficients.data(), 1, n);
    t.diagonal.push_back(coefficients(0));
    for (Index i = 0; i < size; ++i) v(i) -= coefficients(0) * q[i];
    if (k > 0) v -= t.beside.back() * basis.row(row - 1).transpose();
    // Rounding leaves a little of the earlier vectors.
    remove(basis, static_cast<std::size_t>(row) + 1, v, coefficients, sum);
    const double beta = v.norm();
    // Nothing new in v: the space found so far is invariant.
    const bool closed = k + 1 == most || beta <= 8 * kEpsilon * largest_entry;
    if (closed || k + 1 == next_check) {
      value = t.largest(precision);
      small = t.top_vector(value);
      if (closed || beta * std::abs(small(k)) <= tolerance * std::abs(value)) break;
      next_check = std::min(most, next_check + std::max<Index>(4, next_check / 4));
    }
    t.beside.push_back(beta);
    if (row + 1 == basis.rows()) basis.conservativeResize(std::min(size, 2 * basis.rows()), size);
    basis.row(row + 1) = (v / beta).transpose();
  }
  const auto count = static_cast<std::size_t>(small.size());
  table.multiply({small.data(), count, 1}, basis.data() + held * n, n, v.data(), n, 1, count, n);
  v.normalize();
  table.apply(m.data(), n, v.data(), sum.data(), n, n);
  top.value = v.dot(sum);
  top.residual = (sum - top.value * v).norm();
  top.products = t.diagonal.size() + 1;
  top.vector.assign(v.data(), v.data() + v.size());
  const double rounding = static_cast<double>(n) * kEpsilon * largest_entry;
  if (top.residual <= kCertified * tolerance * std::abs(top.value) + rounding) return top;
  return dense(without(m, basis.topRows(first)));
}

}  // namespace

TopEigen top_eigen(std::span<const double> matrix, std::size_t n, double tolerance,
                   std::span<const double> known) {
  assert(n > 0 && matrix.size() == n * n && known.size() % n == 0 && known.size() < n * n);
  const Eigen::Map<const Eigen::ArrayXd> entries(matrix.data(), static_cast<Index>(matrix.size()));
  const double largest = entries.abs().maxCoeff();
  // Squares of entries beyond these leave the range of double; a power of two brings them to 1.
  if (largest == 0 || (largest > 0x1p-300 && largest < 0x1p300)) {
    return lanczos(matrix, n, tolerance, known, largest);
  }
  const int exponent = std::ilogb(largest);
  std::vector<double> scaled(matrix.begin(), matrix.end());
  for (double& x : scaled) x = std::ldexp(x, -exponent);
  TopEigen top = lanczos(scaled, n, tolerance, known, std::ldexp(largest, -exponent));
  top.value = std::ldexp(top.value, exponent);
  top.residual = std::ldexp(top.residual, exponent);
  return top;
}

}  // namespace boba::algebra
