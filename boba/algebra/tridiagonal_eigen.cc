#include "boba/algebra/tridiagonal_eigen.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "boba/algebra/blocks.h"

namespace boba::algebra {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kTurns = 3;  // of inverse iteration; one is enough except for an unlucky start

// How many values of a tridiagonal matrix are above x: the negative pivots of x * I - T.
Index values_above(const VectorXd& diagonal, const VectorXd& beside, double x, double least) {
  Index above = 0;
  double pivot = 1;
  for (Index i = 0; i < diagonal.size(); ++i) {
    pivot = x - diagonal(i) - (i > 0 ? beside(i - 1) * (beside(i - 1) / pivot) : 0);
    if (std::abs(pivot) < least) pivot = -least;
    above += pivot < 0 ? 1 : 0;
  }
  return above;
}

// The largest values by bisection, to rounding of the size. Unlike QR iterations it ends for every
// matrix.
VectorXd tridiagonal_values(const VectorXd& diagonal, const VectorXd& beside, Index count,
                            double size) {
  const double least = kEpsilon * kEpsilon * size;
  VectorXd values(count);
  double top = size;
  for (Index j = 0; j < count; ++j) {
    double low = -size;
    double high = top;
    while (high - low > kEpsilon * size) {
      const double middle = low + (high - low) / 2;
      (values_above(diagonal, beside, middle, least) > j ? low : high) = middle;
    }
    top = high;
    values(j) = low + (high - low) / 2;
  }
  return values;
}

// T - shift * I = P L U of a tridiagonal T with exchange of rows, to solve with.
class Shifted {
 public:
  Shifted(const VectorXd& diagonal, const VectorXd& beside, double shift, double least)
      : pivot_(diagonal.array() - shift), next_(beside), after_(VectorXd::Zero(beside.size())) {
    const Index n = pivot_.size();
    factor_.resize(beside.size());
    exchanged_.resize(static_cast<std::size_t>(n), false);
    for (Index i = 0; i + 1 < n; ++i) {
      const double below = beside(i);
      if (std::abs(pivot_(i)) >= std::abs(below)) {
        raise(i, least);
        factor_(i) = below / pivot_(i);
        pivot_(i + 1) -= factor_(i) * next_(i);
        continue;
      }
      exchanged_[static_cast<std::size_t>(i)] = true;
      factor_(i) = pivot_(i) / below;
      pivot_(i) = below;
      const double above = next_(i);
      next_(i) = pivot_(i + 1);
      pivot_(i + 1) = above - factor_(i) * next_(i);
      if (i + 2 < n) {
        after_(i) = next_(i + 1);
        next_(i + 1) *= -factor_(i);
      }
    }
    raise(n - 1, least);
  }

  void solve(VectorXd& x) const {
    const Index n = x.size();
    for (Index i = 0; i + 1 < n; ++i) {
      if (exchanged_[static_cast<std::size_t>(i)]) std::swap(x(i), x(i + 1));
      x(i + 1) -= factor_(i) * x(i);
    }
    for (Index i = n; i-- > 0;) {
      if (i + 1 < n) x(i) -= next_(i) * x(i + 1);
      if (i + 2 < n) x(i) -= after_(i) * x(i + 2);
      x(i) /= pivot_(i);
    }
  }

 private:
  // The shift is an eigenvalue to rounding, so a pivot may vanish.
  void raise(Index i, double least) {
    if (std::abs(pivot_(i)) < least) pivot_(i) = std::copysign(least, pivot_(i));
  }

  VectorXd pivot_;
  VectorXd next_;
  VectorXd after_;
  VectorXd factor_;
  std::vector<bool> exchanged_;
};

// Unit eigenvectors of T, each kept orthogonal to those before it: for close values inverse
// iteration alone would find the same vector twice.
MatrixXd tridiagonal_vectors(const VectorXd& diagonal, const VectorXd& beside,
                             const VectorXd& values, double size) {
  const Index n = diagonal.size();
  MatrixXd vectors(n, values.size());
  for (Index j = 0; j < values.size(); ++j) {
    const Shifted shifted(diagonal, beside, values(j), kEpsilon * size);
    VectorXd x(n);
    for (Index i = 0; i < n; ++i) x(i) = pseudo_random(i, j);
    const auto known = vectors.leftCols(j);
    for (int turn = 0; turn < kTurns; ++turn) {
      shifted.solve(x);
      x /= x.lpNorm<Eigen::Infinity>();
      x.normalize();
      for (int again = 0; again < 2; ++again) {
        const VectorXd coefficients = known.transpose() * x;
        x -= known * coefficients;
        x.normalize();
      }
    }
    vectors.col(j) = x;
  }
  return vectors;
}

}  // namespace

TridiagonalEigen tridiagonal_eigen(const MatrixXd& m, Index count) {
  if (m.rows() == 1) return {m.diagonal(), MatrixXd::Ones(1, 1)};
  const Eigen::Tridiagonalization<MatrixXd> reduced(m);
  const VectorXd diagonal = reduced.diagonal();
  const VectorXd beside = reduced.subDiagonal();
  // No value is beyond the largest sum of a row; a little more, for rounding.
  VectorXd sums = diagonal.cwiseAbs();
  sums.tail(beside.size()) += beside.cwiseAbs();
  sums.head(beside.size()) += beside.cwiseAbs();
  const double size = (1 + 8 * kEpsilon) * sums.maxCoeff();
  TridiagonalEigen found;
  if (!(size > 0)) return {VectorXd::Zero(count), MatrixXd::Identity(m.rows(), count)};
  found.values = tridiagonal_values(diagonal, beside, count, size);
  found.vectors = tridiagonal_vectors(diagonal, beside, found.values, size);
  found.vectors.applyOnTheLeft(reduced.matrixQ());
  return found;
}

}  // namespace boba::algebra
