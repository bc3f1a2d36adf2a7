// Singular values without a decomposition of the matrix, where they are not far apart.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace boba {

// The eigenvalues of a matrix's products of rows, or of columns: squared singular values, rising.
// They lose digits in proportion to their spread, so none where the least is too small for that.
// REQUIRES: one row at least.
std::optional<Eigen::VectorXd> narrow_spectrum(const Eigen::MatrixXd& products);

}  // namespace boba
