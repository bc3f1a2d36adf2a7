// Stage 1 of BOBA: the affine subspace near which n - f of the updates lie.
#pragma once

#include <cstddef>
#include <vector>

#include "boba/core/gram.h"
#include "boba/rules/subspace.h"

namespace boba {

struct Stage1 {
  Subspace subspace;
  Projection projection;             // of all rows on it
  std::vector<std::size_t> set;      // the clients that it was fitted to; empty: the server's rows
  std::vector<std::size_t> nearest;  // the n - f clients nearest to it
  std::vector<double> trimmed_loss;  // sum of squared residuals of the nearest, per iteration
  double noise = 0;                  // squared singular value of the first direction left out
  std::size_t fits = 0;
  bool converged = true;
};

// The server's own subspace.
Stage1 server_stage1(const Gram& gram, std::size_t keep);

// From the server's subspace on: fit to the `keep` nearest clients until they stay the same, or
// max_iter times. The trimmed loss never increases beyond rounding.
Stage1 alternating_stage1(const Gram& gram, std::size_t keep, int max_iter);

// The best of all subsets of `keep` clients; ties to the first in lexicographic order.
Stage1 exhaustive_stage1(const Gram& gram, std::size_t keep);

// C(n, k), or the limit if it is larger.
std::size_t subsets(std::size_t n, std::size_t k, std::size_t limit);

}  // namespace boba
