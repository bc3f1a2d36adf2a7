// Stage 1 of BOBA: the affine subspace near which n - f of the updates lie.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "boba/core/gram.h"
#include "boba/rules/subspace.h"

namespace boba {

struct Stage1 {
  Subspace subspace;
  Projection projection;         // of all rows on it
  std::vector<std::size_t> set;  // the clients that it was fitted to; none: to the server's rows
  std::vector<std::size_t> nearest;  // the n - f clients nearest to it
  std::vector<double> trimmed_loss;  // sum of squared residuals of the nearest, per iteration
  double noise = 0;                  // squared singular value of the first direction left out
  std::size_t fits = 0;
  bool converged = true;
};

// The clients that may shape a subspace, rising: all but those more than 1024 times as far from the
// centre as the n - f nearest. A single one of those within the subspace would take the digits of
// the other directions. At most f are missing.
std::vector<std::size_t> near_clients(const Gram& gram, std::size_t f);

// The server's own subspace. near: near_clients(), at least `keep` of them, here and below.
Stage1 server_stage1(const Gram& gram, std::span<const std::size_t> near, std::size_t keep);

// Starts from the server's subspace. Fits a subspace to the `keep` nearest clients, again and again
// until they stay the same, at most max_iter times. Beyond rounding the trimmed loss never
// increases.
Stage1 alternating_stage1(const Gram& gram, std::span<const std::size_t> near, std::size_t keep,
                          int max_iter);

// The best fit to `keep` of the clients, of all such subsets; ties to the tightest, then to the
// first in lexicographic order.
Stage1 exhaustive_stage1(const Gram& gram, std::span<const std::size_t> near, std::size_t keep);

// C(n, k), or the limit if it is larger.
std::size_t count_subsets(std::size_t n, std::size_t k, std::size_t limit);

}  // namespace boba
