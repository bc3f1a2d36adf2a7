#include "boba/rules/narrow_spectrum.h"

#include <Eigen/Eigenvalues>

namespace boba {

std::optional<Eigen::VectorXd> narrow_spectrum(const Eigen::MatrixXd& products) {
  constexpr double kNarrow = 1e-6;  // the least square, of the largest
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(products, Eigen::EigenvaluesOnly);
  const Eigen::VectorXd& squares = solver.eigenvalues();
  // Written so that NaN fails.
  if (!(squares(0) > kNarrow * squares(squares.size() - 1))) return std::nullopt;
  return squares;
}

}  // namespace boba
