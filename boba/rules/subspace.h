// An affine subspace of d-space, kept in n-space.
//
// With A the rows of a Gram matrix K, its point is A'm with sum(m) = 1 and its orthonormal basis
// is A'W, where each column of W sums to 0.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "boba/core/gram.h"

namespace boba {

struct Subspace {
  Eigen::VectorXd m;             // one weight per row of the Gram matrix
  Eigen::MatrixXd w;             // rows by rank
  std::size_t rows = 0;          // of the fitted set
  std::vector<double> spectrum;  // the set's largest squared singular values, centred, falling
  double total = 0;              // the sum of all its squared singular values
  double loss = 0;               // sum of the squared residuals of the set
  Eigen::MatrixXd products;      // of the fitted rows about their mean

  std::size_t rank() const { return static_cast<std::size_t>(w.cols()); }
};

// The best subspace of at most `dimension` directions for the given rows: their mean and the top
// eigenvectors of their centred products. Directions lost in rounding are left out.
// guess: the coordinates of all rows on a subspace nearby, one column per row, or null. It saves
// time and changes nothing beyond rounding, except which of equal values are taken at the cut.
// memory: products of an earlier fit, whose memory is used again.
// REQUIRES: set is not empty.
Subspace fit_subspace(const Gram& gram, std::span<const std::size_t> set, std::size_t dimension,
                      const Eigen::MatrixXd* guess = nullptr, Eigen::MatrixXd memory = {});

// The squared singular value of the first direction of the set that the subspace leaves out, to
// about six digits; 0 where it leaves none out.
double left_out_value(std::span<const std::size_t> set, const Subspace& subspace);

// Where the rows of the Gram matrix stand with respect to a subspace.
struct Projection {
  Eigen::MatrixXd x;                // rank by rows: coordinates
  std::vector<double> sq_residual;  // squared distance from the subspace; 0 up to `lost`
  std::vector<double> lost;         // what rounding may leave of it for a row on the subspace
};

Projection project(const Gram& gram, const Subspace& subspace);

// The `count` clients with the smallest values, rising by index; ties to the lower index.
std::vector<std::size_t> smallest(std::span<const double> values, std::size_t count);

}  // namespace boba
