// Subspaces of d-space in n-space, for the definitions of BOBA and its kin.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/hunt/oracle.h"

namespace boba::hunt {

using Set = std::vector<std::size_t>;  // rows of the products, rising

// Residuals and other squares below this share of what they are differences of are 0: the last
// digits of eigenvectors of nearly equal values leave more of a row than 0. Squares of the digits
// of a double are larger.
inline constexpr double kLeastSquare = 1e-40;

struct Subspace {
  std::vector<Big> m;         // the point
  BigMatrix w;                // the basis, one column per direction
  std::vector<Big> spectrum;  // the set's squared singular values about their mean, falling
  Big loss = 0;
  Big total = 0;
};

// The best subspace of at most `dimension` directions. REQUIRES: set is not empty.
Subspace fit(const Products& products, const Set& set, std::size_t dimension);

struct Projected {
  BigMatrix x;  // directions by rows
  std::vector<Big> residuals;
};
// Squared residuals below the share least_square are 0.
Projected project(const Products& products, const Subspace& subspace,
                  double least_square = kLeastSquare);

// The upper one of two in the middle. REQUIRES: values are not empty.
Big middle_of(std::vector<Big> values);

}  // namespace boba::hunt
