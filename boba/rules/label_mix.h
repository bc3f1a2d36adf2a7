// Stage 2 of BOBA: every projected update as a mix of the projected server gradients.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "boba/rules/subspace.h"

namespace boba {

struct LabelMixes {
  Eigen::MatrixXd shares;               // classes by clients; each column sums to 1
  std::vector<double> singular_values;  // of the differences between the projected corners
  std::size_t used = 0;                 // how many of these were large enough to divide by
};

// p_i minimises |X p - x_i| subject to sum(p) = 1, with the least norm where there is a choice.
// Singular values below 1e-6 of the clients' spread are not divided by.
LabelMixes label_mixes(const Projection& projection, std::size_t clients);

}  // namespace boba
