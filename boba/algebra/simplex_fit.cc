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

// Gains below this, relative to the largest squared distance of a corner, are rounding.
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
// A corner whose new part is smaller than this, squared, depends on the others.
constexpr double kDependent = 1e-13;

}  // namespace

SimplexFit::SimplexFit(const MatrixXd& corners)
    : corners_(corners), factor_(corners.cols(), corners.cols()), best_(corners.cols()) {
  assert(corners.cols() > 0);
  products_.noalias() = corners.transpose() * corners;
  about_.resize(corners.cols(), corners.cols());
}

// With H the support's products about x, the shares solve H p = mu 1, sum(p) = 1, so they are the
// solution of (H + s 1 1') v = 1 over its sum, for every s > 0. That matrix is positive definite
// even where x lies in the face, unless the corners depend on each other.
bool SimplexFit::solve_support() {
  const auto size = static_cast<Index>(support_.size());
  double scale = 0;
  for (Index a : support_) scale = std::max(scale, about_(a, a));
  if (scale == 0) scale = 1;
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i <= j; ++i) {
      double sum =
          about_(support_[static_cast<std::size_t>(i)], support_[static_cast<std::size_t>(j)]) +
          scale;
      for (Index k = 0; k < i; ++k) sum -= factor_(k, i) * factor_(k, j);
      if (i < j) {
        factor_(i, j) = sum / factor_(i, i);
      } else if (sum > kDependent * scale) {
        factor_(j, j) = std::sqrt(sum);
      } else {
        return false;
      }
    }
  }
  for (Index i = 0; i < size; ++i) {
    double sum = 1;
    for (Index k = 0; k < i; ++k) sum -= factor_(k, i) * best_(k);
    best_(i) = sum / factor_(i, i);
  }
  double total = 0;
  for (Index i = size; i-- > 0;) {
    double sum = best_(i);
    for (Index k = i + 1; k < size; ++k) sum -= factor_(i, k) * best_(k);
    best_(i) = sum / factor_(i, i);
    total += best_(i);
  }
  best_.head(size) /= total;
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
  const VectorXd across = corners_.transpose() * x;
  const double square = x.squaredNorm();
  for (Index j = 0; j < c; ++j) {
    for (Index i = 0; i < c; ++i) {
      about_(i, j) = (products_(i, j) - (across(i) + across(j))) + square;
    }
  }
  const double tolerance = kRounding * std::max(about_.diagonal().maxCoeff(), square);
  const auto from_nearest_corner = [&] {
    Index nearest = 0;
    about_.diagonal().minCoeff(&nearest);
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
    // <y_z, y> of each corner about x, y their mean: where one is less than |y|^2, adding it helps.
    const VectorXd slope = about_ * shares;
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
  return (x - corners_ * shares).squaredNorm();
}

}  // namespace boba::algebra
