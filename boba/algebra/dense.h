// Dense decompositions of small matrices. Eigen's templates for them take seconds to compile, so
// they are instantiated in dense.cc alone.
#pragma once

#include <Eigen/Core>

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

}  // namespace boba::algebra
