// The largest eigenvalues of a positive semidefinite matrix and vectors to them.
#pragma once

#include <Eigen/Core>
#include <cstddef>

namespace boba::algebra {

struct LeadingEigen {
  Eigen::VectorXd values;    // falling
  Eigen::MatrixXd vectors;   // orthonormal columns, one per value
  std::size_t products = 0;  // by the matrix, with a block of vectors each
  bool dense = false;        // a dense solver was used; then all values are here
  bool reduced = false;      // the matrix was reduced to tridiagonal form (tridiagonal_eigen.h)
};

// The `count` largest, and perhaps more. Each residual is below 1e-12 of its value or at the
// rounding of the largest; a value beyond count is right to six digits. Equal input, equal bits.
//
// 1. Subspace iteration with Chebyshev polynomials (Y. Zhou, Y. Saad, M. Tiago, J. Chelikowsky.
//    Self-consistent-field calculations using Chebyshev-filtered subspace iteration. J. Comput.
//    Phys. 219, 2006). It begins with `start`, a guess of the vectors that may have no columns, and
//    fixed columns beside it. It ends once a bound on the rest of the spectrum shows that no larger
//    value was missed, whatever the start (of values within 1e-9 of the last, any may be found).
// 2. Where eigenvalues lie too close together for that, block Lanczos continues (block_lanczos.h).
// 3. At last, or for fewer rows, a reduction to tridiagonal form (tridiagonal_eigen.h).
//
// Together they take less than 6 n^3 multiplications for every spectrum. A dense solver is used for
// up to 48 rows, counts above about n / 4, and entries whose squares leave the range of double.
//
// REQUIRES: m is symmetric and finite and not empty; count > 0; start has as many rows.
LeadingEigen leading_eigen(const Eigen::MatrixXd& m, Eigen::Index count,
                           const Eigen::MatrixXd& start);

}  // namespace boba::algebra
