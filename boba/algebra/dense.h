// Dense decompositions of small matrices. Eigen's templates for them take seconds to compile, so
// they are instantiated in dense.cc alone.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace boba::algebra {

struct SymmetricEigen {
  Eigen::VectorXd values;   // rising
  Eigen::MatrixXd vectors;  // in the order of the values
  bool found = false;       // false: the iteration did not converge
};

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix);

// The values alone, which is much cheaper.
SymmetricEigen symmetric_eigenvalues(const Eigen::MatrixXd& matrix);

// Orthonormal columns that span those of a tall matrix, by Householder reflections. signs: of the
// triangular factor's diagonal.
struct Orthonormal {
  Eigen::MatrixXd columns;
  Eigen::VectorXd signs;
};
Orthonormal orthonormal(const Eigen::MatrixXd& tall);

// matrix = u * diag(values) * v', thin, values falling.
struct ThinSvd {
  Eigen::MatrixXd u;
  Eigen::VectorXd values;
  Eigen::MatrixXd v;
};
ThinSvd thin_svd(const Eigen::MatrixXd& matrix);
Eigen::VectorXd singular_values(const Eigen::MatrixXd& matrix);

// Squared singular values of a matrix X, rising, from the products of its rows, X X', or of its
// columns, X' X: cheaper than a decomposition. They lose digits in proportion to their spread, so
// the result is empty where the least is below 1e-6 of the largest. REQUIRES: at least one row.
std::optional<Eigen::VectorXd> squared_singular_values(const Eigen::MatrixXd& products);

}  // namespace boba::algebra
