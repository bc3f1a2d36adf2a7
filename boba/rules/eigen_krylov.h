// The largest eigenvalues of a symmetric matrix by block Lanczos.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>

#include "boba/rules/eigen_blocks.h"

namespace boba {

struct KrylovEigen {
  BlockOfVectors vectors;    // as many as the start has, by falling value; close to orthonormal
  std::size_t products = 0;  // by the matrix, with a block of vectors each
  bool converged = false;    // the first `count`, by the recurrence's own estimate
};

// Block Lanczos with full reorthogonalisation (G. Golub, R. Underwood. The block Lanczos method for
// computing eigenvalues. Mathematical Software III, 1977): it resolves the edge of a spectrum
// without gaps in far fewer products than filters, which forget all products but the last.
// Directions that the matrix exhausts are replaced by scattered ones. The space has at most half as
// many dimensions as the matrix; then it ends without convergence. So the work is below 2 n^3
// multiplications for every input. REQUIRES: m is symmetric and finite, squares of its entries are
// finite; start has m.rows() rows and at least count columns, which are independent.
KrylovEigen krylov_eigen(const Eigen::MatrixXd& m, Eigen::Index count, const BlockOfVectors& start);

// Whether the matrix has a value above the limit beside those of the known vectors: from scattered
// columns that depend on the matrix's bits, until the largest value they see and its residual are
// on one side of it. A value that is there goes unseen only where all the columns are nearly
// orthogonal to its vector, which a sender of rows cannot arrange. Empty where half as many
// dimensions as the matrix has do not tell.
// known: eigenvectors, orthonormal. largest: of the values of known.
// REQUIRES: as above; m.rows() >= 24.
std::optional<bool> any_value_above(const Eigen::MatrixXd& m, double limit,
                                    const BlockOfVectors& known, double largest);

}  // namespace boba
