// The largest eigenvalue of a symmetric matrix and a vector to it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace boba::algebra {

struct TopEigen {
  double value = 0;
  std::vector<double> vector;  // of norm 1; where the eigenvalue is multiple, one of its vectors
  double residual = 0;         // |M v - value v|
  std::size_t products = 0;    // by the matrix; 0: zero matrix
  bool dense = false;          // the iteration was not accurate enough, a dense solver was used
};

// Lanczos with full reorthogonalisation from a fixed start, so that equal matrices give equal
// bits. The residual is computed at the end; where it is not small, a dense solver is used.
// tolerance: the iteration ends at this residual, relative to the value.
// known: orthonormal eigenvectors to leave out, one after the other.
// REQUIRES: matrix has n * n finite entries and is symmetric, n > 0, and known are fewer than n.
TopEigen top_eigen(std::span<const double> matrix, std::size_t n, double tolerance = 1e-11,
                   std::span<const double> known = {});

}  // namespace boba::algebra
