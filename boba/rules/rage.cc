#include "boba/rules/rage.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <optional>

#include "boba/algebra/top_eigen.h"
#include "boba/rules/distance.h"
#include "boba/rules/select.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Of a weight; below it is rounding, also where products are formed in double.
constexpr double kLeastShare = 1e-13;

// The filter on the inner products of the clients.
class Filter {
 public:
  Filter(const Gram& gram, RageProjection projection)
      : k_(gram.centred().data(), static_cast<Index>(gram.clients()),
           static_cast<Index>(gram.clients()),
           Eigen::OuterStride<>(static_cast<Index>(gram.size()))),
        zero_(2 * gram.rounding()),
        weight(VectorXd::Ones(k_.rows())),
        tau(VectorXd::Zero(k_.rows())),
        removed_in(gram.clients(), 0) {
    if (projection == RageProjection::kCentred) return;
    // <g_i, g_j> = k(i, j) + shift_i + shift_j.
    shift_ = VectorXd(k_.rows());
    for (Index i = 0; i < k_.rows(); ++i) shift_(i) = (gram.dot(i, i) - gram.centred(i, i)) / 2;
  }

  enum class Outcome { kDone, kNoVariance, kNothingLeft };

  // Takes weight away once.
  Outcome step(int number) {
    if (!project()) return Outcome::kNoVariance;
    double most = 0;
    for (Index i = 0; i < tau.size(); ++i) {
      if (weight(i) > 0) most = std::max(most, tau(i));
    }
    if (most == 0) return Outcome::kNoVariance;
    VectorXd less = weight;
    for (Index i = 0; i < tau.size(); ++i) {
      // A share that is mere rounding is none: equal projections lose their weight together.
      const double left = 1 - tau(i) / most;
      if (weight(i) > 0) less(i) *= left > std::max(zero_, kLeastShare) ? left : 0;
    }
    if (!(less.maxCoeff() > 0)) return Outcome::kNothingLeft;
    for (Index i = 0; i < tau.size(); ++i) {
      if (weight(i) > 0 && less(i) == 0) removed_in[i] = number;
    }
    weight = less;
    return Outcome::kDone;
  }

 private:
  // Sets tau; false where the weighted rows do not differ beyond rounding.
  bool project() {
    const VectorXd p = weight / weight.sum();
    const VectorXd root = p.cwiseSqrt();
    const VectorXd q = k_ * p;  // <g_i - o, mu - o>
    const double s = p.dot(q);
    const Index n = k_.rows();
    scaled_.resize(n, n);
    for (Index j = 0; j < n; ++j) {
      scaled_.col(j) = root(j) * root.array() * (k_.col(j).array() - q.array() + (s - q(j)));
    }
    const auto size = static_cast<std::size_t>(n);
    const algebra::TopEigen top = algebra::top_eigen({scaled_.data(), size * size}, size);
    if (!(top.value > zero_ * p.dot(k_.diagonal()))) return false;

    // v = sum of t_i (g_i - mu).
    const VectorXd t =
        root.cwiseProduct(Eigen::Map<const VectorXd>(top.vector.data(), n)) / std::sqrt(top.value);
    const double t_sum = t.sum();
    tau = k_ * t - q * t_sum;
    tau.array() += s * t_sum - q.dot(t);
    if (shift_.size() > 0) {
      const VectorXd with_mean = q.array() + shift_.array() + p.dot(shift_);  // <g_i, mu>
      tau.array() += t.dot(with_mean) - t_sum * p.dot(with_mean);             // <mu, v>
    }
    tau = tau.cwiseAbs2().eval();
    return true;
  }

  Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>> k_;  // products about the origin
  VectorXd shift_;   // what the origin adds to a product, half for each row; for the raw projection
  MatrixXd scaled_;  // sqrt(p_i p_j) <g_i - mu, g_j - mu>
  double zero_;      // variance below this share of the weighted squares is rounding

 public:
  VectorXd weight;
  VectorXd tau;                 // of the last step
  std::vector<int> removed_in;  // the step that took all weight; 0: none
};

class Rage final : public WeightRule {
 public:
  explicit Rage(const RageOptions& options) : options_(options) {}

  std::optional<int> tolerance() const override { return options_.f; }
  Traits traits() const override {
    const bool centred = options_.projection == RageProjection::kCentred;
    return {.shifts = centred, .scales = true, .robust = true};
  }

  Result<void> admits(const Shape& shape) const override {
    if (shape.clients > 0) return {};
    return invalid_argument("rage needs n >= 1; got n=0");
  }

 protected:
  Result<Decision> weigh(const Gram& gram, const Shape& shape) const override {
    const int most =
        options_.steps > 0 ? options_.steps : static_cast<int>(shape.tolerated(options_.f));
    Filter filter(gram, options_.projection);
    Decision decision;
    int steps = 0;
    for (; steps < most; ++steps) {
      const Filter::Outcome outcome = filter.step(steps + 1);
      if (outcome == Filter::Outcome::kDone) continue;
      decision.notes.push_back(
          fmt::format("stopped after {} of {} steps: {}", steps, most,
                      outcome == Filter::Outcome::kNoVariance
                          ? "the clients left do not differ"
                          : "one more would have taken the weight of every client"));
      break;
    }
    const double sum = filter.weight.sum();
    decision.rows.resize(gram.clients());
    for (std::size_t i = 0; i < decision.rows.size(); ++i) {
      const auto at = static_cast<Index>(i);
      RowDecision& row = decision.rows[i];
      row.weight = filter.weight(at) / sum;
      row.accepted = row.weight > 0;
      row.reason = row.accepted ? fmt::format("keeps {:.4g} of its weight after {} steps",
                                              filter.weight(at), steps)
                                : fmt::format("removed in step {}: the largest projection then",
                                              filter.removed_in[i]);
      row.measures = {{"tau", filter.tau(at)}, {"kept", filter.weight(at)}};
    }
    add_distances(gram, decision);
    decision.measures = {{"steps", static_cast<double>(steps)}};
    decision.warnings = majority_warnings(shape, options_.f);
    return decision;
  }

 private:
  RageOptions options_;
};

}  // namespace

Result<Aggregator> make_rage(const RageOptions& options) {
  return make_named<Aggregator, Rage>(options);
}

}  // namespace boba
