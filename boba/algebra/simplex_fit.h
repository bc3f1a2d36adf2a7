// The point of a simplex nearest to a given point.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace boba::algebra {

// min |x - C p| over all p with p >= 0 and sum(p) = 1, for many x and one matrix C of corners, by
// the active-set method of P. Wolfe (Finding the nearest point in a polytope. Mathematical
// Programming 11, 1976). It is exact up to rounding and takes a few solutions of systems no larger
// than the number of corners. A start near the answer, such as the shares of the round before,
// takes one. Corners may coincide or depend on each other: then one of the best p is found, the
// same for equal input.
class SimplexFit {
 public:
  // Columns of corners are the corners. REQUIRES: at least one.
  explicit SimplexFit(const Eigen::MatrixXd& corners);

  // Returns the squared distance. shares: a start on entry (not negative, sum 1), p on return.
  double operator()(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> shares);

 private:
  // Shares of the support that make their sum nearest to x; false if the corners depend on each
  // other.
  bool solve_support();
  // Moves the shares to the best of the support's face, leaving corners out on the way. False if
  // the support's corners depend on each other.
  bool descend(Eigen::Ref<Eigen::VectorXd> shares);

  Eigen::VectorXd mean_;      // of the corners
  Eigen::MatrixXd corners_;   // about it
  Eigen::MatrixXd products_;  // of these
  Eigen::VectorXd across_;    // of these with x
  std::vector<Eigen::Index> support_;
  Eigen::MatrixXd factor_;
  Eigen::VectorXd ones_;
  Eigen::VectorXd best_;
};

}  // namespace boba::algebra
