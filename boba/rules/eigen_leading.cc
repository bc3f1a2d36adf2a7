#include "boba/rules/eigen_leading.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "boba/algebra/dense.h"
#include "boba/rules/eigen_blocks.h"
#include "boba/rules/eigen_krylov.h"
#include "boba/rules/eigen_partial.h"
#include "boba/rules/loops.h"

namespace boba {
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
constexpr int kOrthoTurns = 4;          // by Cholesky factors, before reflections
constexpr double kLeastPivot = 1e-10;   // below this, such a turn would leave nothing orthogonal
constexpr double kGoodPivot = 0.25;     // from here on, rounding is all that is left
constexpr std::size_t kBand = 16;       // rows factored together
constexpr int kMostChecks = 2;          // for missed values: one may cost as much as Lanczos
constexpr Index kKrylovRows = 40;       // of the matrix per vector of the block, for block Lanczos
constexpr Index kCholeskyRows = 700;    // from here on a Cholesky factor takes longer than Lanczos
constexpr double kNoise = 1e-2;  // norm of what is added to a vector that Lanczos starts from
constexpr double kRough = 1e-4;  // relative residual of a value that only reports show

LeadingEigen dense(const MatrixXd& m) {
  const algebra::SymmetricEigen all = algebra::symmetric_eigen(m);
  LeadingEigen result;
  result.values = all.values.reverse();
  result.vectors = all.vectors.rowwise().reverse();
  result.dense = true;
  return result;
}

// The first values and one more, in a fifth of the time. Empty where a residual is too large.
std::optional<LeadingEigen> by_reduction(const MatrixXd& m, Index count) {
  PartialEigen found = partial_eigen(m, count + 1);
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

using Rows = BlockOfVectors;

// Whether a symmetric matrix has a Cholesky factor U'U, which is found in bands of rows. Overwrites
// the upper half.
bool is_positive(Rows& m) {
  const auto n = static_cast<std::size_t>(m.rows());
  Rows known(static_cast<Index>(kBand), m.cols());
  for (std::size_t from = 0; from < n; from += kBand) {
    const std::size_t to = std::min(from + kBand, n);
    // What the rows above contribute to this band.
    loops().multiply({m.data() + from, 1, n}, m.data() + from, n, known.data(), n, to - from, from,
                     n - from);
    for (std::size_t i = from; i < to; ++i) {
      double* row = m.data() + i * n;
      const double* sum = known.data() + (i - from) * n;
      for (std::size_t j = i; j < n; ++j) row[j] -= sum[j - from];
      for (std::size_t k = from; k < i; ++k) {
        const double* above = m.data() + k * n;
        const double factor = above[i];
        for (std::size_t j = i; j < n; ++j) row[j] -= factor * above[j];
      }
      // Written so that NaN fails.
      if (!(row[i] > 0)) return false;
      const double inverse = 1 / std::sqrt(row[i]);
      for (std::size_t j = i; j < n; ++j) row[j] *= inverse;
    }
  }
  return true;
}

struct Factored {
  Index failed = 0;  // the first column that depends on those before it; their number: none
  double pivot = 0;  // the least square of what is new in a column, relative to the column
};

// Given the products of some columns, the matrix that makes them orthonormal takes their place: the
// inverse of the Cholesky factor U of U'U. It is of use only where no column failed.
Factored factor(Rows& m) {
  const Index n = m.rows();
  Factored result = {n, 1};
  Rows inverse = Rows::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    const double whole = m(j, j);
    for (Index i = 0; i <= j; ++i) {
      double rest = m(i, j);
      for (Index k = 0; k < i; ++k) rest -= m(k, i) * m(k, j);
      m(i, j) = i < j ? rest / m(i, i) : rest;
    }
    // Written so that NaN fails.
    if (!(m(j, j) > kLeastPivot * whole)) return {j, 0};
    result.pivot = std::min(result.pivot, m(j, j) / whole);
    m(j, j) = std::sqrt(m(j, j));
    inverse(j, j) = 1 / m(j, j);
    for (Index i = 0; i < j; ++i) {
      double sum = 0;
      for (Index k = i; k < j; ++k) sum += inverse(i, k) * m(k, j);
      inverse(i, j) = -sum * inverse(j, j);
    }
  }
  m.swap(inverse);
  return result;
}

class Iteration {
 public:
  Iteration(const MatrixXd& m, Index count, Index block, const MatrixXd& start)
      : m_(m), count_(count), known_(count), x_(m.rows(), block) {
    // At least the columns beyond count are not the caller's: what a guess lacks must come in.
    const Index given = std::min(start.cols(), count);
    x_.leftCols(given) = start.leftCols(given);
    for (Index j = given; j < block; ++j) fill_column(j);
    mx_.resize(m.rows(), block);
    spare_.resize(m.rows(), block);
  }

  bool run() {
    double before = std::numeric_limits<double>::infinity();
    int refused = 0;
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      orthonormalise();
      rotate();
      const double residual = worst_residual();
      if (residual <= 1) {
        if (none_larger()) return true;
        if (++refused == kMostChecks) return false;
      }
      // The first cycle starts from a guess and says nothing about the pace.
      if (!(residual < kWorstProgress * before) && cycle > 1) return false;
      before = residual;
      filter(residual);
    }
    return false;
  }

  // Goes on by block Lanczos. A space that misses a larger value would have to miss it with every
  // column, so each is given a part of every vector that no sender of rows can foresee.
  bool refine() {
    if (!x_.allFinite()) return false;
    const std::uint64_t seed = seed_of(m_);
    const double size = kNoise * std::sqrt(3 / static_cast<double>(m_.rows()));
    for (Index i = 0; i < x_.rows(); ++i) {
      for (Index j = 0; j < x_.cols(); ++j) x_(i, j) += size * scattered(i, j, seed);
    }
    KrylovEigen found = krylov_eigen(m_, count_, x_);
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
    for (Index i = 0; i < x_.rows(); ++i) x_(i, j) = scattered(i, j);
  }

  // x = x * turn.
  void turn_block(Rows& x, const Rows& turn) {
    const auto block = static_cast<std::size_t>(x.cols());
    loops().multiply({x.data(), block, 1}, turn.data(), block, spare_.data(), block,
                     static_cast<std::size_t>(x.rows()), block, block);
    x.swap(spare_);
  }

  // out = m_ * x_.
  void multiply(Rows& out) {
    const auto n = static_cast<std::size_t>(m_.rows());
    const auto block = static_cast<std::size_t>(x_.cols());
    loops().multiply({m_.data(), n, 1}, x_.data(), block, out.data(), block, n, n, block);
    ++products_;
  }

  // By Cholesky factors of the products of the columns, which is fast, as often as it takes:
  // rounding grows with the inverse of the least pivot. A filter may leave nothing of a column
  // beyond count but a sum of others; such columns are begun anew. Others need reflections.
  void orthonormalise() {
    for (int turn = 0; turn < kOrthoTurns; ++turn) {
      multiply_transposed(x_, x_, small_);
      const Factored factored = factor(small_);
      if (factored.failed < count_) break;
      if (factored.failed < x_.cols()) {
        for (Index j = factored.failed; j < x_.cols(); ++j) fill_column(j);
        continue;
      }
      turn_block(x_, small_);
      if (factored.pivot > kGoodPivot) return;
    }
    x_ = algebra::orthonormal(x_).columns;
  }

  // The best vectors of the block's span, by falling value.
  void rotate() {
    multiply(mx_);
    multiply_transposed(x_, mx_, small_);
    const algebra::SymmetricEigen all = algebra::symmetric_eigen((small_ + small_.transpose()) / 2);
    values_ = all.values.reverse();
    const Rows turn = all.vectors.rowwise().reverse();
    turn_block(x_, turn);
    turn_block(mx_, turn);
  }

  // Norms, of the first columns.
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

  // Relative to what is allowed.
  double worst_residual() const {
    const VectorXd norms = residuals(count_);
    double worst = 0;
    for (Index j = 0; j < count_; ++j) {
      // Written so that NaN stays.
      const double part = norms(j) / allowed_residual(values_(j), values_(0), m_.rows());
      if (!(part <= worst)) worst = part;
    }
    return std::isfinite(worst) ? worst : std::numeric_limits<double>::infinity();
  }

  // Eigenpairs need not be the leading ones: a start that lies in other eigenvectors stays there.
  // So the rest of the matrix must have no eigenvalue above the last of ours. Three tests, each
  // finer and slower than the one before:
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
    const Rows scaled = x_.leftCols(count_) * values_.head(count_).asDiagonal();
    const Rows across = x_.leftCols(count_).transpose();
    Rows gap(m_.rows(), m_.rows());
    loops().multiply({scaled.data(), count, 1}, across.data(), n, gap.data(), n, n, count, n);
    gap -= m_;
    gap.diagonal().array() += (1 + kTie) * least + slack;
    return is_positive(gap);
  }

  // Damps what belongs to values from 0 to the block's last, as far as the residual calls for it.
  void filter(double residual) {
    const double half = std::max(values_(values_.size() - 1), 1e-12 * values_(0)) / 2;
    const double last = std::acosh(std::max(1.0, values_(count_ - 1) / half - 1));
    const double first = std::acosh(std::max(1.0, values_(0) / half - 1));
    const double spread = first - last;  // log of the growth per degree
    const double degrees = spread > 0 ? std::log(kMostGrowth) / spread : kMostDegree;
    // What the block has not seen of the spectrum is damped less: some more than the residual asks.
    const double enough = last > 0 ? kReserve * std::log(10 * residual) / last : kMostDegree;
    const double degree =
        std::clamp(std::min(degrees, std::ceil(enough)), 1.0, double{kMostDegree});
    Rows before = x_;
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
  Rows x_;
  Rows mx_;  // m_ * x_
  Rows spare_;
  Rows small_;
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
  Iteration iteration(m, count, block, start);
  if (iteration.run()) return iteration.result();
  if (m.rows() >= kKrylovRows * block && iteration.refine()) return iteration.result();
  LeadingEigen found = by_reduction(m, count).value_or(LeadingEigen());
  if (found.values.size() == 0) found = dense(m);
  found.products = iteration.products();
  return found;
}

}  // namespace boba
