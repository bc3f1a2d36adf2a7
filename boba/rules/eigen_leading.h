// The largest eigenvalues of a positive semidefinite matrix and vectors to them.
#pragma once

#include <Eigen/Core>
#include <cstddef>

namespace boba {

struct LeadingEigen {
  Eigen::VectorXd values;    // falling
  Eigen::MatrixXd vectors;   // orthonormal columns, one per value
  std::size_t products = 0;  // by the matrix, with a block of vectors each
  bool dense = false;        // a dense solver was used: then all values are there
};

// At least the `count` largest. Small matrices, and those whose eigenvalues lie too close together
// for an iteration, go to a dense solver; so results are accurate to rounding in either case. What
// the iteration finds is taken once a bound on the rest of the spectrum shows that no larger value
// was missed, whatever the start (of values within 1e-9 of the last, any may be there).
// Otherwise subspace iteration with Chebyshev polynomials (Y. Zhou, Y. Saad, M. Tiago, J.
// Chelikowsky. Self-consistent-field calculations using Chebyshev-filtered subspace iteration. J.
// Comput. Phys. 219, 2006), from `start`, a guess of the vectors that may have no columns, and
// fixed columns beside it: equal input, equal bits.
// REQUIRES: m is symmetric and finite and not empty; count > 0; start has as many rows.
LeadingEigen leading_eigen(const Eigen::MatrixXd& m, Eigen::Index count,
                           const Eigen::MatrixXd& start);

}  // namespace boba
