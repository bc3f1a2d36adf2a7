// The geometric median of a Gram matrix's clients, as weights of the clients.
#pragma once

#include <cstddef>
#include <vector>

#include "boba/core/gram.h"

namespace boba {

struct GeometricMedian {
  std::vector<double> weights;    // one per client, none negative, sum 1
  std::vector<double> distances;  // of each client to the median
  std::size_t iterations = 0;
  double last_step = 0;  // relative to the median distance
  bool converged = false;
  bool at_update = false;  // the median is an update, or the mean of some that are medians
};

// REQUIRES: gram.clients() > 0.
GeometricMedian geometric_median(const Gram& gram, double tolerance, int max_iter);

}  // namespace boba
