#include "boba/algebra/simplex_fit.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace boba::algebra {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Ref;
using Eigen::VectorXd;

// Gains below this, relative to the products that they are differences of, are rounding.
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
// A corner whose new part is smaller than this, squared, depends on the others.
constexpr double kDependent = 1e-13;

}  // namespace

SimplexFit::SimplexFit(const MatrixXd& corners)
    : mean_(corners.rowwise().mean()),
      corners_(corners.colwise() - mean_),
      products_(corners.cols(), corners.cols()),
      factor_(corners.cols(), corners.cols()),
      ones_(corners.cols()),
      best_(corners.cols()) {
  assert(corners.cols() > 0);
  products_.noalias() = corners_.transpose() * corners_;
}

// With H the support's products and b its products with x, the shares solve H p = b + mu 1,
// sum(p) = 1. With M = H + s 1 1', s > 0, they are M^-1 b + t M^-1 1 for the t that makes their sum
// 1. M is positive definite unless the corners depend on each other. b matters up to a multiple of
// 1: what all corners have in common is taken away, so that a distant x loses no digits.
bool SimplexFit::solve_support() {
  const auto size = static_cast<Index>(support_.size());
  double scale = 0;
  double common = 0;
  for (Index a : support_) {
    scale = std::max(scale, products_(a, a));
    common += across_(a) / static_cast<double>(size);
  }
  if (scale == 0) scale = 1;
  for (Index j = 0; j < size; ++j) {
    const Index b = support_[static_cast<std::size_t>(j)];
    for (Index i = 0; i <= j; ++i) {
      double sum = products_(support_[static_cast<std::size_t>(i)], b) + scale;
      for (Index k = 0; k < i; ++k) sum -= factor_(k, i) * factor_(k, j);
      if (i < j) {
        factor_(i, j) = sum / factor_(i, i);
      } else if (sum > kDependent * scale) {
        factor_(j, j) = std::sqrt(sum);
      } else {
        return false;
      }
    }
    ones_(j) = 1;
    best_(j) = across_(b) - common;
  }
  const auto upper = factor_.topLeftCorner(size, size).triangularView<Eigen::Upper>();
  for (VectorXd* right : {&ones_, &best_}) {
    auto head = right->head(size);
    upper.transpose().solveInPlace(head);
    upper.solveInPlace(head);
  }
  best_.head(size) += (1 - best_.head(size).sum()) / ones_.head(size).sum() * ones_.head(size);
  return true;
}

bool SimplexFit::descend(Ref<VectorXd> shares) {
  while (solve_support()) {
    // How far towards the best the shares can go before one of them turns negative.
    double step = 1;
    for (std::size_t a = 0; a < support_.size(); ++a) {
      const double now = shares(support_[a]);
      const double next = best_(static_cast<Index>(a));
      if (next <= 0) step = std::min(step, now / (now - next));
    }
    for (std::size_t a = 0; a < support_.size(); ++a) {
      double& share = shares(support_[a]);
      share += step * (best_(static_cast<Index>(a)) - share);
    }
    if (step == 1) return true;
    // Leaves out the one that became zero; rounding must not keep it.
    std::vector<Index> rest;
    for (std::size_t a = 0; a < support_.size(); ++a) {
      double& share = shares(support_[a]);
      if (best_(static_cast<Index>(a)) > 0 || share > kRounding) {
        rest.push_back(support_[a]);
      } else {
        share = 0;
      }
    }
    support_ = std::move(rest);
  }
  return false;
}

double SimplexFit::operator()(const Ref<const VectorXd>& x, Ref<VectorXd> shares) {
  const Index c = corners_.cols();
  const VectorXd off = x - mean_;
  across_ = corners_.transpose() * off;
  const double tolerance =
      kRounding * std::max(products_.diagonal().maxCoeff(), across_.cwiseAbs().maxCoeff());
  const auto from_nearest_corner = [&] {
    Index nearest = 0;
    (products_.diagonal() - 2 * across_).minCoeff(&nearest);
    shares.setZero();
    shares(nearest) = 1;
    support_ = {nearest};
  };
  support_.clear();
  for (Index z = 0; z < c; ++z) {
    if (shares(z) > 0) support_.push_back(z);
  }
  if (support_.empty() || !descend(shares)) {
    from_nearest_corner();
  }
  // Each turn lowers the distance, so no support comes twice; the bound is for rounding.
  for (Index turn = 0; turn < 20 * c + 100; ++turn) {
    // How half the squared distance grows with each share: where one is below the shares' mean,
    // more of that corner helps.
    const VectorXd slope = products_ * shares - across_;
    Index next = 0;
    const double least = slope.minCoeff(&next);
    if (slope.dot(shares) - least <= tolerance || shares(next) > 0) break;
    const VectorXd before = shares;
    support_.insert(std::lower_bound(support_.begin(), support_.end(), next), next);
    if (!descend(shares)) {
      shares = before;
      break;
    }
  }
  shares /= shares.sum();
  return (off - corners_ * shares).squaredNorm();
}

}  // namespace boba::algebra
