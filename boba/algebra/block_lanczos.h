// The largest eigenvalues of a symmetric matrix by block Lanczos.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>

#include "boba/algebra/blocks.h"

namespace boba::algebra {

struct LanczosEigen {
  BlockOfVectors vectors;    // as many as the start has, by falling value; close to orthonormal
  std::size_t products = 0;  // by the matrix, with a block of vectors each
  bool converged = false;    // the first `count`, as the recurrence itself estimates
};

// Block Lanczos with full reorthogonalisation (G. Golub, R. Underwood. The block Lanczos method for
// computing eigenvalues. Mathematical Software III, 1977): it resolves the edge of a spectrum
// without gaps in far fewer products than filters, which forget all products but the last.
// Where the matrix adds no new direction, a pseudo-random one is taken. The space has at most half
// as many dimensions as the matrix; then the search ends without convergence. So the work is below
// 2 n^3 multiplications for every input. REQUIRES: m is symmetric and finite, squares of its
// entries are finite; start has m.rows() rows and at least count columns, which are independent.
LanczosEigen block_lanczos(const Eigen::MatrixXd& m, Eigen::Index count,
                           const BlockOfVectors& start);

// Whether the matrix has a value above the limit beside those of the known vectors. The search
// starts from pseudo-random columns that depend on the matrix's bits, and ends when the largest
// value in its space and the residual of that value are on one side of the limit. It misses a value
// only where all columns are nearly orthogonal to its vector, which a sender of rows cannot
// arrange. Empty where half as many dimensions as the matrix has are not enough to tell.
// known: orthonormal eigenvectors. largest: the largest of their values.
// REQUIRES: as above; m.rows() >= 24.
std::optional<bool> any_value_above(const Eigen::MatrixXd& m, double limit,
                                    const BlockOfVectors& known, double largest);

}  // namespace boba::algebra
