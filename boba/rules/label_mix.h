// Stage 2 of BOBA: every projected update as a mix of the projected server gradients.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "boba/core/gram.h"
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

// How well the server knows the corners of the simplex, by disjoint parts of its own samples.
// A part is what an honest client with one class would send. Each is written as a mix of the
// corners that the other parts give, within the subspace, and has a least share; this is the lower
// quartile of these. (The lowest has long tails: where few samples make two corners nearly equal,
// it is many times what honest clients have.) By the noise of the corners alone the shares of a
// client deviate less, by sqrt(m - 1) / m with m parts; that ratio is taken out but for the 2 of
// two halves, which is the margin. gram: the products before the parts were joined; subspace: of
// those after. 0 where the corners cannot be told apart. REQUIRES: parts > 1.
double low_share_of_parts(const Gram& gram, const Subspace& subspace, std::size_t parts);

}  // namespace boba
