#include "boba/rules/eigen_leading.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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

class Iteration {
 public:
  Iteration(const MatrixXd& m, Index count, Index block, const MatrixXd& start)
      : m_(m), count_(count), x_(m.rows(), block) {
    // At least the columns beyond count are not the caller's: what a guess lacks must come in.
    const Index given = std::min(start.cols(), count);
    x_.leftCols(given) = start.leftCols(given);
    for (Index j = given; j < block; ++j) {
      for (Index i = 0; i < m.rows(); ++i) x_(i, j) = scattered(i, j);
    }
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
      filter();
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
  void orthonormalise() {
    const Eigen::HouseholderQR<MatrixXd> qr(x_);
    x_ = qr.householderQ() * MatrixXd::Identity(x_.rows(), x_.cols());
  }

  // The best vectors of the block's span, by falling value.
  void rotate() {
    mx_.noalias() = m_ * x_;
    ++products_;
    const MatrixXd small = x_.transpose() * mx_;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver((small + small.transpose()) / 2);
    values_ = solver.eigenvalues().reverse();
    const MatrixXd turn = solver.eigenvectors().rowwise().reverse();
    x_ = x_ * turn;
    mx_ = mx_ * turn;
  }

  // Relative to what is allowed. Values lost in rounding have no vectors to converge to.
  double worst_residual() const {
    const double floor = 4 * kEpsilon * std::sqrt(static_cast<double>(m_.rows())) * values_(0);
    double worst = 0;
    for (Index j = 0; j < count_; ++j) {
      const double residual = (mx_.col(j) - values_(j) * x_.col(j)).norm();
      worst = std::max(worst, residual / std::max(kConverged * values_(j), floor));
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
    const auto v = x_.leftCols(count_);
    MatrixXd gap = v * values_.head(count_).asDiagonal() * v.transpose() - m_;
    const double slack = 8 * kEpsilon * static_cast<double>(m_.rows()) * values_(0);
    gap.diagonal().array() += (1 + kTie) * least + slack;
    return Eigen::LLT<Eigen::Ref<MatrixXd>>(gap).info() == Eigen::Success;
  }

  // Damps what belongs to values from 0 to the block's last.
  void filter() {
    const double half = std::max(values_(values_.size() - 1), 1e-12 * values_(0)) / 2;
    const double last = std::acosh(std::max(1.0, values_(count_ - 1) / half - 1));
    const double first = std::acosh(std::max(1.0, values_(0) / half - 1));
    const double spread = first - last;  // log of the growth per degree
    const double degrees = spread > 0 ? std::log(kMostGrowth) / spread : kMostDegree;
    const int degree = static_cast<int>(std::clamp(degrees, 1.0, double{kMostDegree}));
    MatrixXd before = x_;
    x_ = (mx_ - half * x_) / half;
    for (int k = 1; k < degree; ++k) {
      MatrixXd next = m_ * x_;
      ++products_;
      next = (next - half * x_) * (2 / half) - before;
      before.swap(x_);
      x_.swap(next);
    }
    // Columns of very different size would confuse the pivot-free factorisation.
    x_.colwise().normalize();
  }

  const MatrixXd& m_;
  Index count_;
  MatrixXd x_;
  MatrixXd mx_;  // m_ * x_
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
