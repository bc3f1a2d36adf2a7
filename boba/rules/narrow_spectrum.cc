#include "boba/rules/narrow_spectrum.h"

#include "boba/algebra/dense.h"

namespace boba {

std::optional<Eigen::VectorXd> narrow_spectrum(const Eigen::MatrixXd& products) {
  constexpr double kNarrow = 1e-6;  // the least square, of the largest
  Eigen::VectorXd squares = algebra::symmetric_eigenvalues(products).values;
  // Written so that NaN fails.
  if (!(squares(0) > kNarrow * squares(squares.size() - 1))) return std::nullopt;
  return squares;
}

}  // namespace boba
