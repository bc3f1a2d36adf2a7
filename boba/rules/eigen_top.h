// The largest eigenvalue of a symmetric matrix and a vector to it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace boba {

struct TopEigen {
  double value = 0;
  std::vector<double> vector;  // of norm 1; where the eigenvalue is multiple, one of its vectors
  double residual = 0;         // |M v - value v|
  std::size_t products = 0;    // by the matrix; 0: zero matrix
  bool dense = false;          // the iteration did not do, and a dense solver was used
};

// Lanczos with full reorthogonalisation from a fixed start, so that equal matrices give equal
// bits; the residual is computed at the end, and a dense solver steps in where it is not small.
// tolerance: of the residual, relative to the value, at which the iteration ends.
// known: eigenvectors to leave out, orthonormal, one after the other; the largest of the rest is
// looked for.
// REQUIRES: matrix has n * n finite entries and is symmetric, n > 0, and known are fewer than n.
TopEigen top_eigen(std::span<const double> matrix, std::size_t n, double tolerance = 1e-11,
                   std::span<const double> known = {});

}  // namespace boba
