#include "boba/rules/weiszfeld.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "boba/algebra/loops.h"
#include "boba/rules/distance.h"

namespace boba {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Where Weiszfeld's steps shrink by less than this from one to the next, Newton's steps follow.
constexpr double kSlow = 0.4;
// Where the objective bends by less than 1 - kFlat of the most possible, as so many turns of the
// power method show, only Newton's steps tell how far away the median is.
constexpr double kFlat = 0.9;
constexpr int kFlatTurns = 12;
// Updates nearer than this share of the median distance hold an iterate back.
constexpr double kNear = 1e-3;

double median_of(VectorXd values) {
  double* middle = values.data() + values.size() / 2;
  std::nth_element(values.data(), middle, values.data() + values.size());
  return *middle;
}

// The updates with the smallest sum of distances. From each sum the distances to the origin are
// subtracted, term by term; otherwise one client far out would drown the others' differences.
std::vector<std::size_t> best_updates(const Gram& gram) {
  const std::size_t n = gram.clients();
  std::vector<double> sums(n, 0.0);
  std::vector<double> sizes(n, 0.0);
  ArrayXd from_origin(static_cast<Index>(n));
  for (std::size_t j = 0; j < n; ++j) from_origin(static_cast<Index>(j)) = gram.centred(j, j);
  from_origin = from_origin.sqrt().eval();
  ArrayXd terms(static_cast<Index>(n));
  for (std::size_t i = 0; i < n; ++i) {
    gram.sq_distances(i, {terms.data(), n});
    const double* row = gram.centred().data() + i * gram.size();
    const Eigen::Map<const ArrayXd> products(row, static_cast<Index>(n));
    const ArrayXd far = terms.sqrt() + from_origin;
    terms = (far == 0).select(0.0, (row[i] - 2 * products) / far);
    sums[i] = terms.sum();
    sizes[i] = terms.abs().sum();
  }
  const auto best =
      static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
  std::vector<std::size_t> list = {best};
  const double rounding = 4 * gram.rounding() + 64 * kEpsilon;
  for (std::size_t i = 0; i < n; ++i) {
    if (i != best && sums[i] - sums[best] <= rounding * (sizes[i] + sizes[best])) list.push_back(i);
  }
  return list;
}

// A symmetric matrix times a vector.
VectorXd product(const MatrixXd& m, const VectorXd& x) {
  const auto n = static_cast<std::size_t>(x.size());
  VectorXd result(x.size());
  algebra::loops().apply(m.data(), n, x.data(), result.data(), n, n);
  return result;
}

// The pull of the other updates on update k: R = sum of (g_i - g_k)/|g_i - g_k|. Update k is a
// median if and only if |R| is at most the number of updates equal to it.
struct Pull {
  VectorXd inverse;   // 1/|g_i - g_k|; 0 for those equal to it
  double norm = 0;    // |R|
  double equal = 0;   // how many are equal to it, itself included
  double middle = 0;  // the median distance from it
};

// Distances are about update k already: products(i, j) = <g_i - g_k, g_j - g_k>.
Pull pull(const MatrixXd& products, double rounding) {
  const Index n = products.rows();
  Pull result;
  result.inverse = VectorXd::Zero(n);
  const VectorXd sq = products.diagonal().cwiseMax(0);
  for (Index i = 0; i < n; ++i) {
    if (sq(i) > rounding) {
      result.inverse(i) = 1 / std::sqrt(sq(i));
    } else {
      ++result.equal;
    }
  }
  result.norm = std::sqrt(std::max(0.0, result.inverse.dot(product(products, result.inverse))));
  result.middle = std::sqrt(median_of(sq));
  return result;
}

MatrixXd products_about(const Gram& gram, std::size_t k) {
  const auto n = static_cast<Index>(gram.clients());
  MatrixXd products(n, n);
  for (Index j = 0; j < n; ++j) {
    const double shift = gram.centred(k, k) - gram.centred(k, j);
    const double* with_j = gram.centred().data() + static_cast<std::size_t>(j) * gram.size();
    const double* with_k = gram.centred().data() + k * gram.size();
    for (Index i = 0; i < n; ++i) products(i, j) = with_j[i] - with_k[i] + shift;
  }
  return products;
}

// The descent. The origin is the best update and x = sum of w_i (g_i - origin); the objective
// falls from its value there, so that no iterate meets an update.
class Descent {
 public:
  Descent(const MatrixXd& products, const Pull& start)
      : k_(products), scale_(start.middle), w_(start.inverse) {
    // The step of Vardi and Zhang away from an update that is not the median.
    w_ *= (start.norm - start.equal) / (start.norm * start.inverse.sum());
    measure();
  }

  bool run(double tolerance, int max_iter) {
    double before = 0;  // the length of the last step; 0: there is none to compare with
    bool newton = false;
    for (iterations = 1; iterations <= static_cast<std::size_t>(max_iter); ++iterations) {
      VectorXd step = inverse_ / inverse_.sum() - w_;
      double length = length_of(step);
      newton = newton || (before > 0 && length > kSlow * before);
      bool sure = before > 0 && length <= kSlow * before;  // the remaining way is shorter
      bool by_newton = false;
      if (newton) {
        if (const NewtonStep better = newton_step(tolerance); better.fraction > 0) {
          step = better.fraction * better.whole;
          // A shortened step says nothing about the remaining way.
          length = length_of(better.whole);
          sure = by_newton = true;
        }
      }
      w_ += step;
      measure();
      last_step = length / scale_;
      before = length;
      if (last_step > (sure ? tolerance : tolerance / 100)) continue;
      if (leave_updates(tolerance)) {
        before = 0;
        newton = false;
      } else if (by_newton || newton || !flat()) {
        return true;
      } else {
        newton = true;
      }
    }
    --iterations;
    return false;
  }

  // Weights of the updates themselves: Weiszfeld's map, of which the median is the fixed point.
  VectorXd weights() const { return inverse_ / inverse_.sum(); }
  const VectorXd& distances() const { return r_; }

  std::size_t iterations = 0;
  double last_step = 0;

 private:
  // Distances and products at w_.
  void measure() {
    q_ = product(k_, w_);
    sq_ = w_.dot(q_);
    // Rounding can cross zero; the median itself lies at no update.
    const double least = 1e-12 * scale_;
    r_ = (k_.diagonal().array() - 2 * q_.array() + sq_).max(least * least).sqrt().matrix();
    inverse_ = r_.cwiseInverse();
  }

  // Near an update Weiszfeld's steps are short wherever the median is, because that update weighs
  // most. So a better point is searched on the line to the weighted mean of the updates farther
  // off, at all scales. False: there is none beyond the tolerance, and this is the median.
  bool leave_updates(double tolerance) {
    const VectorXd others = (r_.array() > kNear * scale_).select(inverse_, 0.0);
    const double sum = others.sum();
    if (sum == 0 || (others.array() > 0).all()) return false;
    const VectorXd step = others / sum - w_;
    const StepProducts products = products_of(step);
    double best = 0;
    double fraction = 0;
    for (double tried = 1; tried * tried * products.length_sq > square(tolerance * scale_);
         tried /= 2) {
      const double change = products.changes(tried, r_).sum();
      if (change < best) {
        best = change;
        fraction = tried;
      }
    }
    if (fraction == 0) return false;
    w_ += fraction * step;
    measure();
    return true;
  }

  // Whether the objective hardly bends in some direction. There Weiszfeld's steps are short even
  // far from the median. Along a unit vector v it bends by S (1 - sum of p_i <u_i, v>^2), p_i =
  // 1/(r_i S); the largest such sum is the top eigenvalue of the products of sqrt(p_i) u_i.
  bool flat() const {
    const VectorXd root = (inverse_ / inverse_.sum()).cwiseSqrt().cwiseProduct(inverse_);
    VectorXd y = VectorXd::LinSpaced(r_.size(), 1, 2);
    for (Index i = 0; i < y.size(); i += 2) y(i) = -y(i);
    double value = 0;
    for (int turn = 0; turn < kFlatTurns && y.norm() > 0; ++turn) {
      y.normalize();
      const VectorXd z = root.cwiseProduct(y);
      const double sum = z.sum();
      const VectorXd image = product(k_, z).array() - sum * q_.array() + (sq_ * sum - q_.dot(z));
      y = root.cwiseProduct(image);
      value = y.norm();
    }
    return value > kFlat;
  }

  // A step from x, as far as the distances to the updates depend on it.
  struct StepProducts {
    VectorXd along;        // <x - g_i, step>
    double length_sq = 0;  // |step|^2

    // How the distances r change after this fraction of the step, without differences of large
    // numbers.
    ArrayXd changes(double fraction, const VectorXd& r) const {
      const ArrayXd change = 2 * fraction * along.array() + fraction * fraction * length_sq;
      return change / ((r.array().square() + change).max(0).sqrt() + r.array());
    }
  };

  StepProducts products_of(const VectorXd& step) const {
    const VectorXd k_step = product(k_, step);
    return {(w_.dot(k_step) - k_step.array()).matrix(), std::max(0.0, step.dot(k_step))};
  }

  static double square(double x) { return x * x; }

  double length_of(const VectorXd& step) const {
    return std::sqrt(std::max(0.0, step.dot(product(k_, step))));
  }

  struct NewtonStep {
    VectorXd whole;
    double fraction = 0;  // of the whole step, so that the objective falls; 0: no step does
  };

  // With u_i = (x - g_i)/r_i and S = sum of 1/r_i, Newton's step is -sum of y_i u_i where y solves
  // (S r_i - <u_i, u_j>) y = r.
  NewtonStep newton_step(double tolerance) const {
    const Index n = r_.size();
    const VectorXd root = r_.cwiseSqrt();
    const VectorXd factor = (r_.array() * root.array()).inverse().matrix();
    MatrixXd system(n, n);
    for (Index j = 0; j < n; ++j) {
      system.col(j) =
          -factor(j) * factor.array() * (k_.col(j).array() - q_.array() + (sq_ - q_(j)));
    }
    system.diagonal().array() += inverse_.sum();
    const Eigen::LLT<Eigen::Ref<MatrixXd>> solver(system);
    if (solver.info() != Eigen::Success) return {};
    const VectorXd pull = solver.solve(root).cwiseProduct(factor);  // y_i / r_i
    const VectorXd step = pull - pull.sum() * w_;
    if (!step.allFinite()) return {};

    const StepProducts products = products_of(step);
    const double slope = products.along.dot(inverse_);
    // Below the tolerance the change of the objective may be lost in rounding.
    if (std::sqrt(products.length_sq) <= tolerance * scale_) return {step, 1};
    for (double fraction = 1; fraction > 1e-6; fraction /= 2) {
      if (products.changes(fraction, r_).sum() <= 0.1 * fraction * slope) return {step, fraction};
    }
    return {};
  }

  const MatrixXd& k_;  // products about the best update
  double scale_;
  VectorXd w_;
  VectorXd q_;        // k_ * w_
  double sq_ = 0;     // |x|^2
  VectorXd r_;        // distances of the updates from x
  VectorXd inverse_;  // 1/r
};

}  // namespace

GeometricMedian geometric_median(const Gram& gram, double tolerance, int max_iter) {
  const std::size_t n = gram.clients();
  assert(n > 0);
  const std::vector<std::size_t> best = best_updates(gram);
  const MatrixXd products = products_about(gram, best.front());
  double size = 0;
  for (std::size_t i : best) size = std::max(size, gram.centred(i, i));
  const Pull start = pull(products, 2 * gram.rounding() * size);

  GeometricMedian median;
  const double slack = static_cast<double>(n) * 4 * gram.rounding();
  if (start.norm <= start.equal + slack) {
    median.weights.assign(n, 0.0);
    for (std::size_t i : best) median.weights[i] = 1 / static_cast<double>(best.size());
    median.distances = distances_to(gram, median.weights);
    median.converged = true;
    median.at_update = true;
    return median;
  }
  Descent descent(products, start);
  median.converged = descent.run(tolerance, max_iter);
  median.iterations = descent.iterations;
  median.last_step = descent.last_step;
  const VectorXd weights = descent.weights();
  median.weights.assign(weights.data(), weights.data() + weights.size());
  median.distances.assign(descent.distances().data(), descent.distances().data() + n);
  return median;
}

}  // namespace boba
