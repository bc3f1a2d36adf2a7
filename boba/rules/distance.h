// Distances to a weighted mean of the rows, from inner products.
#pragma once

#include <span>
#include <vector>

#include "boba/core/gram.h"
#include "boba/core/rule.h"

namespace boba {

// |g_i - sum of weights[j] * g_j| for each client i. REQUIRES: one weight per client, sum 1.
std::vector<double> distances_to(const Gram& gram, std::span<const double> weights);

// Adds each row's distance to the result as the measure "distance".
// REQUIRES: the rows' weights sum to 1.
void add_distances(const Gram& gram, Decision& decision);

}  // namespace boba
