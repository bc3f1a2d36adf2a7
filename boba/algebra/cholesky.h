// Cholesky factors, for what the eigensolvers need of them.
#pragma once

#include "boba/algebra/blocks.h"

namespace boba::algebra {

// Whether a symmetric matrix is positive definite, so that it has a Cholesky factor. Overwrites the
// upper half.
bool is_positive_definite(BlockOfVectors& m);

struct CholeskyInverse {
  Eigen::Index dependent = 0;  // the first column that depends on earlier ones; none: the count
  double pivot = 0;            // least square of the new part of a column, relative to the column
};

// products: X'X of some columns X, with the Cholesky factor U'U. Replaces it by the inverse of U;
// then X * inverse(U) has orthonormal columns. It is of use only where no column is dependent.
CholeskyInverse invert_cholesky_factor(BlockOfVectors& products);

}  // namespace boba::algebra
