#include "boba/algebra/leading_eigen.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "boba/algebra/block_lanczos.h"
#include "boba/algebra/blocks.h"
#include "boba/algebra/cholesky.h"
#include "boba/algebra/dense.h"
#include "boba/algebra/loops.h"
#include "boba/algebra/tridiagonal_eigen.h"

namespace boba::algebra {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr Index kSmall = 48;            // rows up to which a dense solver is as fast
constexpr int kCycles = 8;              // at most, of filtering
constexpr int kMostDegree = 10;         // of a filter
constexpr double kMostGrowth = 1e7;     // of the largest value's vector over the last one's
constexpr double kCoarse = 1e-10;       // squares below this part of their sum are lost in it
constexpr double kTie = 1e-9;           // values this close, relatively, may stand for each other
constexpr double kWorstProgress = 0.1;  // of the residuals from one cycle to the next
constexpr double kReserve = 1.25;       // degrees of a filter, over those that a residual asks for
constexpr int kCholeskyTurns = 4;       // to make columns orthonormal, before reflections
constexpr double kGoodPivot = 0.25;     // from here on the columns are orthonormal to rounding
constexpr int kMostChecks = 2;          // for missed values; one may cost as much as Lanczos
constexpr Index kKrylovRows = 40;       // of the matrix per vector of the block, for block Lanczos
constexpr Index kCholeskyRows = 700;    // from here on a Cholesky factor takes longer than Lanczos
constexpr double kNoise = 1e-2;  // norm of what is added to a vector that Lanczos starts from
constexpr double kRough = 1e-4;  // relative residual of a value that only reports show

LeadingEigen dense(const MatrixXd& m) {
  const SymmetricEigen all = symmetric_eigen(m);
  LeadingEigen result;
  result.values = all.values.reverse();
  result.vectors = all.vectors.rowwise().reverse();
  result.dense = true;
  return result;
}

// The first values and one more, in a fifth of the dense solver's time. Empty where a residual is
// too large.
std::optional<LeadingEigen> by_reduction(const MatrixXd& m, Index count) {
  TridiagonalEigen found = tridiagonal_eigen(m, count + 1);
  const MatrixXd off = m * found.vectors - found.vectors * found.values.asDiagonal();
  for (Index k = 0; k <= count; ++k) {
    const double allowed = allowed_residual(found.values(k), found.values(0), m.rows());
    // Written so that NaN fails.
    if (!(off.col(k).norm() <= allowed)) return std::nullopt;
  }
  LeadingEigen result;
  result.values = std::move(found.values);
  result.vectors = std::move(found.vectors);
  result.reduced = true;
  return result;
}

// Subspace iteration with Chebyshev filters.
class FilteredIteration {
 public:
  FilteredIteration(const MatrixXd& m, Index count, Index block, const MatrixXd& start)
      : m_(m), count_(count), known_(count), x_(m.rows(), block) {
    // The columns beyond count never come from the caller: they bring in what the guess lacks.
    const Index given = std::min(start.cols(), count);
    x_.leftCols(given) = start.leftCols(given);
    for (Index j = given; j < block; ++j) fill_column(j);
    mx_.resize(m.rows(), block);
    spare_.resize(m.rows(), block);
  }

  bool run() {
    double before = std::numeric_limits<double>::infinity();
    int checks = 0;
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      orthonormalise();
      rotate();
      const double residual = worst_residual();
      if (residual <= 1) {
        if (none_larger()) return true;
        if (++checks == kMostChecks) return false;
      }
      // The first cycle starts from a guess and says nothing about the pace.
      if (!(residual < kWorstProgress * before) && cycle > 1) return false;
      before = residual;
      filter(residual);
    }
    return false;
  }

  // Continues by block Lanczos. A larger value is missed only if every column misses it, so each
  // column gets a part of every vector that no sender of rows can foresee.
  bool refine() {
    if (!x_.allFinite()) return false;
    const std::uint64_t seed = seed_of(m_);
    const double size = kNoise * std::sqrt(3 / static_cast<double>(m_.rows()));
    for (Index i = 0; i < x_.rows(); ++i) {
      for (Index j = 0; j < x_.cols(); ++j) x_(i, j) += size * pseudo_random(i, j, seed);
    }
    LanczosEigen found = block_lanczos(m_, count_, x_);
    products_ += found.products;
    if (!found.converged) return false;
    x_ = std::move(found.vectors);
    orthonormalise();
    rotate();
    if (!(worst_residual() <= 1)) return false;
    if (residuals(count_ + 1)(count_) <= kRough * values_(count_)) ++known_;
    return true;
  }

  std::size_t products() const { return products_; }

  LeadingEigen result() const {
    LeadingEigen found;
    found.values = values_.head(known_);
    found.vectors = x_.leftCols(known_);
    found.products = products_;
    return found;
  }

 private:
  void fill_column(Index j) {
    for (Index i = 0; i < x_.rows(); ++i) x_(i, j) = pseudo_random(i, j);
  }

  // x = x * turn.
  void turn_block(BlockOfVectors& x, const BlockOfVectors& turn) {
    const auto block = static_cast<std::size_t>(x.cols());
    loops().multiply({x.data(), block, 1}, turn.data(), block, spare_.data(), block,
                     static_cast<std::size_t>(x.rows()), block, block);
    x.swap(spare_);
  }

  // out = m_ * x_.
  void multiply(BlockOfVectors& out) {
    const auto n = static_cast<std::size_t>(m_.rows());
    const auto block = static_cast<std::size_t>(x_.cols());
    loops().multiply({m_.data(), n, 1}, x_.data(), block, out.data(), block, n, n, block);
    ++products_;
  }

  // A Cholesky factor of the products of the columns is fast, but its rounding grows with the
  // inverse of the least pivot, so it may take several turns. After a filter a column beyond count
  // may be a sum of others; it starts anew. An earlier column that is one needs reflections.
  void orthonormalise() {
    for (int turn = 0; turn < kCholeskyTurns; ++turn) {
      multiply_transposed(x_, x_, small_);
      const CholeskyInverse inverse = invert_cholesky_factor(small_);
      if (inverse.dependent < count_) break;
      if (inverse.dependent < x_.cols()) {
        for (Index j = inverse.dependent; j < x_.cols(); ++j) fill_column(j);
        continue;
      }
      turn_block(x_, small_);
      if (inverse.pivot > kGoodPivot) return;
    }
    x_ = orthonormal(x_).columns;
  }

  // The best vectors of the block's span, by falling value.
  void rotate() {
    multiply(mx_);
    multiply_transposed(x_, mx_, small_);
    const SymmetricEigen all = symmetric_eigen((small_ + small_.transpose()) / 2);
    values_ = all.values.reverse();
    const BlockOfVectors turn = all.vectors.rowwise().reverse();
    turn_block(x_, turn);
    turn_block(mx_, turn);
  }

  // Norms of the residuals of the first columns.
  VectorXd residuals(Index columns) const {
    VectorXd sums = VectorXd::Zero(columns);
    for (Index i = 0; i < m_.rows(); ++i) {
      for (Index j = 0; j < columns; ++j) {
        const double off = mx_(i, j) - values_(j) * x_(i, j);
        sums(j) += off * off;
      }
    }
    return sums.cwiseSqrt();
  }

  // The largest residual relative to its limit.
  double worst_residual() const {
    const VectorXd norms = residuals(count_);
    double worst = 0;
    for (Index j = 0; j < count_; ++j) {
      // Written so that NaN stays.
      const double relative = norms(j) / allowed_residual(values_(j), values_(0), m_.rows());
      if (!(relative <= worst)) worst = relative;
    }
    return std::isfinite(worst) ? worst : std::numeric_limits<double>::infinity();
  }

  // The eigenpairs found need not be the leading ones: a start within other eigenvectors stays
  // there. So the rest of the matrix must have no eigenvalue above the last of ours. Three tests,
  // each finer and slower than the one before:
  // 1. the sum of squares of all other eigenvalues;
  // 2. the same without the block's columns beyond count. In their basis and one of the rest, what
  //    is not ours is [E R'; R Z] with E <= first, |R| <= beyond and |Z| <= rest, so its largest
  //    value is at most that of [first beyond; beyond rest];
  // 3. whether a Cholesky factor exists, or for large matrices block Lanczos without our vectors.
  bool none_larger() const {
    const double least = values_(count_ - 1);
    const double ours = values_.head(count_).squaredNorm();
    const double all = m_.squaredNorm();
    if (least * least > kCoarse * all && all - ours <= least * least / 2) return true;
    const Index others = x_.cols() - count_;
    const VectorXd norms = residuals(x_.cols());
    const double squares = all - values_.squaredNorm() - 2 * norms.squaredNorm();
    const double rest = std::sqrt(std::max(0.0, squares) + kCoarse * all);
    const double beyond = norms.tail(others).norm();
    const double first = values_(count_);
    if ((first + rest) / 2 + std::hypot((first - rest) / 2, beyond) <= (1 + kTie) * least) {
      return true;
    }
    const double slack = 8 * kEpsilon * static_cast<double>(m_.rows()) * values_(0);
    if (m_.rows() >= kCholeskyRows) {
      const std::optional<bool> above =
          any_value_above(m_, (1 + kTie) * least + slack, x_.leftCols(count_), values_(0));
      if (above) return !*above;
    }
    const auto n = static_cast<std::size_t>(m_.rows());
    const auto count = static_cast<std::size_t>(count_);
    const BlockOfVectors scaled = x_.leftCols(count_) * values_.head(count_).asDiagonal();
    const BlockOfVectors across = x_.leftCols(count_).transpose();
    BlockOfVectors gap(m_.rows(), m_.rows());
    loops().multiply({scaled.data(), count, 1}, across.data(), n, gap.data(), n, n, count, n);
    gap -= m_;
    gap.diagonal().array() += (1 + kTie) * least + slack;
    return is_positive_definite(gap);
  }

  // Damps the parts that belong to values from 0 to the block's last. The residual sets the degree.
  void filter(double residual) {
    const double half = std::max(values_(values_.size() - 1), 1e-12 * values_(0)) / 2;
    const double last = std::acosh(std::max(1.0, values_(count_ - 1) / half - 1));
    const double first = std::acosh(std::max(1.0, values_(0) / half - 1));
    const double spread = first - last;  // log of the growth per degree
    const double degrees = spread > 0 ? std::log(kMostGrowth) / spread : kMostDegree;
    // Values that the block has not seen are damped less, so the degree is a little higher.
    const double enough = last > 0 ? kReserve * std::log(10 * residual) / last : kMostDegree;
    const double degree =
        std::clamp(std::min(degrees, std::ceil(enough)), 1.0, double{kMostDegree});
    BlockOfVectors before = x_;
    x_ = (mx_ - half * x_) / half;
    for (int k = 1; k < static_cast<int>(degree); ++k) {
      multiply(spare_);
      before = (spare_ - half * x_) * (2 / half) - before;
      before.swap(x_);
    }
    // Columns of very different size would confuse the pivot-free factorisation.
    x_.colwise().normalize();
  }

  const MatrixXd& m_;
  Index count_;
  Index known_;  // pairs of the result: count_, or one more whose value is right to six digits
  BlockOfVectors x_;
  BlockOfVectors mx_;  // m_ * x_
  BlockOfVectors spare_;
  BlockOfVectors small_;
  VectorXd values_;
  std::size_t products_ = 0;
};

}  // namespace

LeadingEigen leading_eigen(const MatrixXd& m, Index count, const MatrixXd& start) {
  const Index block = count + std::max<Index>(3, count / 3);
  // Beyond this range squares leave that of double; the dense solver scales.
  const double size = m.diagonal().cwiseAbs().maxCoeff();
  if (!(size > 0x1p-300 && size < 0x1p300)) return dense(m);
  if (m.rows() <= kSmall || 3 * block >= m.rows()) return dense(m);
  FilteredIteration iteration(m, count, block, start);
  if (iteration.run()) return iteration.result();
  if (m.rows() >= kKrylovRows * block && iteration.refine()) return iteration.result();
  LeadingEigen found = by_reduction(m, count).value_or(LeadingEigen());
  if (found.values.size() == 0) found = dense(m);
  found.products = iteration.products();
  return found;
}

}  // namespace boba::algebra
