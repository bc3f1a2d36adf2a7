#include "boba/algebra/dense.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace boba::algebra {

using Eigen::MatrixXd;
using Eigen::VectorXd;

SymmetricEigen symmetric_eigen(const MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
}

SymmetricEigen symmetric_eigenvalues(const MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(matrix, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues(), {}, solver.info() == Eigen::Success};
}

Orthonormal orthonormal(const MatrixXd& tall) {
  const Eigen::HouseholderQR<MatrixXd> qr(tall);
  return {qr.householderQ() * MatrixXd::Identity(tall.rows(), tall.cols()),
          qr.matrixQR().diagonal().head(tall.cols()).cwiseSign()};
}

ThinSvd thin_svd(const MatrixXd& matrix) {
  const Eigen::JacobiSVD<MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

VectorXd singular_values(const MatrixXd& matrix) {
  return Eigen::JacobiSVD<MatrixXd>(matrix).singularValues();
}

std::optional<VectorXd> squared_singular_values(const MatrixXd& products) {
  constexpr double kLeast = 1e-6;  // of the largest
  VectorXd squares = symmetric_eigenvalues(products).values;
  // Written so that NaN fails.
  if (!(squares(0) > kLeast * squares(squares.size() - 1))) return std::nullopt;
  return squares;
}

}  // namespace boba::algebra
