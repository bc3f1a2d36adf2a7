#include "boba/rules/eigen_leading.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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
constexpr double kConverged = 1e-12;    // residual, relative to its value
constexpr double kCoarse = 1e-10;       // squares below this part of their sum are lost in it
constexpr double kTie = 1e-9;           // values this close, relatively, may stand for each other
constexpr double kWorstProgress = 0.1;  // of the residuals from one cycle to the next
constexpr double kReserve = 1.25;       // degrees of a filter, over those that a residual asks for
constexpr int kOrthoTurns = 4;          // by Cholesky factors, before reflections
constexpr double kLeastPivot = 1e-10;   // below this, such a turn would leave nothing orthogonal
constexpr double kGoodPivot = 0.25;     // from here on, rounding is all that is left
constexpr std::size_t kBand = 16;       // rows factored together

// Numbers between -1 and 1 without a pattern that an input could share.
double scattered(Index i, Index j) {
  std::uint64_t x = (static_cast<std::uint64_t>(i) << 32 | static_cast<std::uint64_t>(j + 1)) *
                    0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1;
}

LeadingEigen dense(const MatrixXd& m) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(m);
  LeadingEigen result;
  result.values = solver.eigenvalues().reverse();
  result.vectors = solver.eigenvectors().rowwise().reverse();
  result.dense = true;
  return result;
}

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// out = a' * b.
void multiply_transposed(const Rows& a, const Rows& b, Rows& out) {
  const auto inner = static_cast<std::size_t>(a.rows());
  const auto left = static_cast<std::size_t>(a.cols());
  const auto right = static_cast<std::size_t>(b.cols());
  out.resize(a.cols(), b.cols());
  loops().multiply({a.data(), 1, left}, b.data(), right, out.data(), right, left, inner, right);
}

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
      : m_(m), count_(count), x_(m.rows(), block) {
    // At least the columns beyond count are not the caller's: what a guess lacks must come in.
    const Index given = std::min(start.cols(), count);
    x_.leftCols(given) = start.leftCols(given);
    for (Index j = given; j < block; ++j) fill_column(j);
    mx_.resize(m.rows(), block);
    spare_.resize(m.rows(), block);
  }

  bool run() {
    double before = std::numeric_limits<double>::infinity();
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      orthonormalise();
      rotate();
      const double residual = worst_residual();
      if (residual <= 1 && none_larger()) return true;
      // The first cycle starts from a guess and says nothing about the pace.
      if (!(residual < kWorstProgress * before) && cycle > 1) return false;
      before = residual;
      filter(residual);
    }
    return false;
  }

  LeadingEigen result() const {
    LeadingEigen found;
    found.values = values_.head(count_);
    found.vectors = x_.leftCols(count_);
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
    const Eigen::HouseholderQR<MatrixXd> qr(x_);
    x_ = qr.householderQ() * MatrixXd::Identity(x_.rows(), x_.cols());
  }

  // The best vectors of the block's span, by falling value.
  void rotate() {
    multiply(mx_);
    multiply_transposed(x_, mx_, small_);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver((small_ + small_.transpose()) / 2);
    values_ = solver.eigenvalues().reverse();
    const Rows turn = solver.eigenvectors().rowwise().reverse();
    turn_block(x_, turn);
    turn_block(mx_, turn);
  }

  // Relative to what is allowed. Values lost in rounding have no vectors to converge to.
  double worst_residual() const {
    const double floor = 4 * kEpsilon * std::sqrt(static_cast<double>(m_.rows())) * values_(0);
    VectorXd sums = VectorXd::Zero(count_);
    for (Index i = 0; i < m_.rows(); ++i) {
      for (Index j = 0; j < count_; ++j) {
        const double off = mx_(i, j) - values_(j) * x_(i, j);
        sums(j) += off * off;
      }
    }
    double worst = 0;
    for (Index j = 0; j < count_; ++j) {
      // Written so that NaN stays.
      const double part = std::sqrt(sums(j)) / std::max(kConverged * values_(j), floor);
      if (!(part <= worst)) worst = part;
    }
    return std::isfinite(worst) ? worst : std::numeric_limits<double>::infinity();
  }

  // Eigenpairs need not be the leading ones: a start that lies in other eigenvectors stays there.
  // So the rest of the matrix must have no eigenvalue above the last of ours, first by the sum of
  // squares of all of them, and where that is too coarse by whether a Cholesky factor exists.
  bool none_larger() const {
    const double least = values_(count_ - 1);
    const double ours = values_.head(count_).squaredNorm();
    const double all = m_.squaredNorm();
    if (least * least > kCoarse * all && all - ours <= least * least / 2) return true;
    const auto n = static_cast<std::size_t>(m_.rows());
    const auto count = static_cast<std::size_t>(count_);
    const Rows scaled = x_.leftCols(count_) * values_.head(count_).asDiagonal();
    const Rows across = x_.leftCols(count_).transpose();
    Rows gap(m_.rows(), m_.rows());
    loops().multiply({scaled.data(), count, 1}, across.data(), n, gap.data(), n, n, count, n);
    gap -= m_;
    const double slack = 8 * kEpsilon * static_cast<double>(m_.rows()) * values_(0);
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
  return iteration.run() ? iteration.result() : dense(m);
}

}  // namespace boba
