#include "boba/algebra/block_lanczos.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "boba/algebra/dense.h"
#include "boba/algebra/tridiagonal_eigen.h"

namespace boba::algebra {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kExhausted = 16;    // a direction below so many roundings is not new
constexpr double kCancelled = 1e-3;  // one below this share of the matrix is made orthogonal again
constexpr std::size_t kFirstCheck = 10;  // blocks before the first look at the values
constexpr double kMostGrowth = 1.3;      // of the space from one look to the next
constexpr double kHopeless = 1.5;        // times the blocks that there is room for: give up
constexpr Index kWitnesses = 12;         // columns; a larger value is missed only if all miss it
constexpr double kReserve = 0.5;         // of the allowed residual: the estimate knows no rounding

class Lanczos {
 public:
  // known: orthonormal eigenvectors to leave out. size: their largest value; rounding is relative
  // to it.
  Lanczos(const MatrixXd& m, Index count, BlockOfVectors start, const BlockOfVectors& known,
          double size)
      : m_(m),
        count_(count),
        width_(start.cols()),
        most_(static_cast<std::size_t>(m.rows() / 2 / width_)),
        known_(known),
        size_(size) {
    for (int turn = 0; turn < 2; ++turn) {
      if (known_.cols() > 0) remove(known_, start, nullptr);
      start = orthonormal(start).columns;
    }
    blocks_.push_back(std::move(start));
  }

  LanczosEigen leading() {
    std::size_t check = std::min(kFirstCheck, most_);
    while (go_to(check)) {
      if (residual_ <= 1) return result();
      check = next_check();
    }
    LanczosEigen failed;
    failed.products = products_;
    return failed;
  }

  // Whether there is a value above the limit; empty: not known.
  std::optional<bool> any_above(double limit) {
    std::size_t check = std::min(kFirstCheck, most_);
    while (go_to(check)) {
      const double reach = outside_.col(0).norm();
      // Written so that NaN decides nothing.
      if (values_(0) > limit) return true;
      if (values_(0) + reach <= limit) return false;
      check = std::min(most_, inside_.size() + std::max<std::size_t>(2, inside_.size() / 5));
    }
    return std::nullopt;
  }

 private:
  // Extends the space and looks at its values; false where there is no room.
  bool go_to(std::size_t check) {
    if (inside_.size() == most_ || check > most_) return false;
    while (inside_.size() < check) extend();
    solve();
    return true;
  }

  // Multiplies the last block by the matrix. The part outside the space is the next block.
  void extend() {
    multiply_blocks(m_, blocks_.back(), product_);
    ++products_;
    BlockOfVectors inside;
    if (known_.cols() > 0) remove(known_, product_, nullptr);
    for (std::size_t j = blocks_.size(); j-- > 0;) {
      remove(blocks_[j], product_, j + 1 == blocks_.size() ? &inside : nullptr);
    }
    inside_.emplace_back((inside + inside.transpose()) / 2);
    size_ = std::max(size_, inside_.back().cwiseAbs().rowwise().sum().maxCoeff());
    const Eigen::ColPivHouseholderQR<MatrixXd> qr(product_);
    MatrixXd upper = qr.matrixR().topRows(width_).triangularView<Eigen::Upper>();
    const double least = kExhausted * kEpsilon * std::sqrt(static_cast<double>(m_.rows())) * size_;
    Index rank = 0;
    while (rank < width_ && std::abs(upper(rank, rank)) > least) ++rank;
    upper.bottomRows(width_ - rank).setZero();
    between_.emplace_back(upper * qr.colsPermutation().transpose());
    BlockOfVectors next = qr.householderQ() * MatrixXd::Identity(m_.rows(), width_);
    const bool cancelled =
        rank < width_ || std::abs(upper(width_ - 1, width_ - 1)) < kCancelled * size_;
    // Pseudo-random columns replace exhausted ones: a multiple value has more vectors.
    for (Index j = rank; j < width_; ++j) {
      const auto column = static_cast<Index>(blocks_.size()) * width_ + j;
      for (Index i = 0; i < next.rows(); ++i) next(i, j) = pseudo_random(i, column);
      next.col(j).normalize();
    }
    for (int turn = 0; turn < (rank < width_ ? 2 : 1) && cancelled; ++turn) {
      if (known_.cols() > 0) remove(known_, next, nullptr);
      for (const BlockOfVectors& block : blocks_) remove(block, next, nullptr);
      // Reflections may flip the sign of a column; between_ has the signs from before.
      const Orthonormal again = orthonormal(next);
      next = again.columns * again.signs.asDiagonal();
    }
    blocks_.push_back(std::move(next));
  }

  // Makes x orthogonal to the block. coefficients, unless null: of x in the block.
  void remove(const BlockOfVectors& block, BlockOfVectors& x, BlockOfVectors* coefficients) {
    multiply_transposed(block, x, small_);
    multiply_blocks(block, small_, spare_);
    x -= spare_;
    if (coefficients != nullptr) *coefficients = small_;
  }

  // The best vectors of the space and their residuals, from the matrix in its basis: inside_ along
  // the diagonal, between_ beside it.
  void solve() {
    const auto held = static_cast<Index>(inside_.size());
    MatrixXd small = MatrixXd::Zero(held * width_, held * width_);
    for (Index k = 0; k < held; ++k) {
      const auto at = static_cast<std::size_t>(k);
      small.block(k * width_, k * width_, width_, width_) = inside_[at];
      if (k + 1 == held) break;
      small.block((k + 1) * width_, k * width_, width_, width_) = between_[at];
      small.block(k * width_, (k + 1) * width_, width_, width_) = between_[at].transpose();
    }
    TridiagonalEigen found = tridiagonal_eigen(small, width_);
    best_ = std::move(found.vectors);
    values_ = std::move(found.values);
    outside_ = between_.back() * best_.bottomRows(width_);
    residual_ = 0;
    for (Index j = 0; j < count_; ++j) {
      const double allowed = kReserve * allowed_residual(values_(j), values_(0), m_.rows());
      // Written so that NaN stays.
      const double relative = outside_.col(j).norm() / allowed;
      if (!(relative <= residual_)) residual_ = relative;
    }
  }

  // The number of blocks at which the residual will be small enough if it keeps falling like this;
  // more than most_ where it will not.
  std::size_t next_check() {
    const std::size_t held = inside_.size();
    double wait = 0.1 * static_cast<double>(held);
    if (last_held_ > 0 && residual_ < last_residual_) {
      const double pace =
          std::log(last_residual_ / residual_) / static_cast<double>(held - last_held_);
      wait = std::log(residual_) / pace;
    }
    last_held_ = held;
    last_residual_ = residual_;
    // The pace grows as outer values converge, so an early estimate says little.
    const bool hopeless = static_cast<double>(held) + wait > kHopeless * static_cast<double>(most_);
    if (2 * held >= most_ && hopeless) return most_ + 1;
    const double growth = (kMostGrowth - 1) * static_cast<double>(held);
    const double least = std::floor(1 + static_cast<double>(held) / 16);
    return std::min(most_,
                    held + static_cast<std::size_t>(std::ceil(std::clamp(wait, least, growth))));
  }

  LanczosEigen result() {
    LanczosEigen found;
    found.products = products_;
    found.converged = true;
    found.vectors = BlockOfVectors::Zero(m_.rows(), width_);
    for (std::size_t k = 0; k < inside_.size(); ++k) {
      small_ = best_.middleRows(static_cast<Index>(k) * width_, width_);
      multiply_blocks(blocks_[k], small_, spare_);
      found.vectors += spare_;
    }
    return found;
  }

  const MatrixXd& m_;
  Index count_;
  Index width_;
  std::size_t most_;  // blocks
  const BlockOfVectors& known_;
  std::vector<BlockOfVectors> blocks_;  // the basis
  std::vector<MatrixXd> inside_;        // blocks_[k]' m blocks_[k]
  std::vector<MatrixXd> between_;       // blocks_[k + 1]' m blocks_[k]
  double size_;                         // of the matrix, as far as it has been seen
  BlockOfVectors product_;
  BlockOfVectors small_;
  BlockOfVectors spare_;
  MatrixXd best_;        // vectors of the space, in its basis
  VectorXd values_;      // their values
  MatrixXd outside_;     // the part of m times them that lies outside the space
  double residual_ = 0;  // the largest, relative to its limit
  double last_residual_ = 0;
  std::size_t last_held_ = 0;
  std::size_t products_ = 0;
};

}  // namespace

LanczosEigen block_lanczos(const MatrixXd& m, Index count, const BlockOfVectors& start) {
  return Lanczos(m, count, start, BlockOfVectors(m.rows(), 0), 0).leading();
}

std::optional<bool> any_value_above(const MatrixXd& m, double limit, const BlockOfVectors& known,
                                    double largest) {
  const std::uint64_t seed = seed_of(m);
  BlockOfVectors start(m.rows(), kWitnesses);
  for (Index i = 0; i < start.rows(); ++i) {
    for (Index j = 0; j < start.cols(); ++j) start(i, j) = pseudo_random(i, j, seed);
  }
  return Lanczos(m, 1, std::move(start), known, largest).any_above(limit);
}

}  // namespace boba::algebra
