// The rules by their definitions, once more, with 130 digits: what the hunt holds the library to.
//
// Rows that are not finite or too long are refused, then those that the screen finds far out; the
// rest is mixed, judged by the rule and blended as docs/rules says, without any rounding that
// matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/hunt/big.h"
#include "tests/hunt/scene.h"

namespace boba::hunt {

struct OracleAnswer {
  std::string error;                 // why there is no answer; empty: there is one
  Row out;                           // rounded to double
  std::vector<std::size_t> refused;  // rows of the updates, rising
};

struct OracleOptions {
  bool screen = true;
  Row screen_factors = {};  // per update: its distance in the screen is multiplied by it
  double fit_factor = 1;    // of the distance from which rows do not shape a subspace
  // Of products, relative to the distances of their rows from the centre, and of probed points,
  // relative to themselves; drawn with the seed.
  double noise = 0;
  std::uint64_t noise_seed = 0;
  double loss_tie = 0;  // losses of boba-es that differ by less of their squares are equal
  double rage_tie = 0;  // projections of rage that differ by less, relatively, are equal
  // Rows are copies if their squared distance is below this share of those from the centre.
  double copy_tie = 0;
  // Rows are on a subspace of boba if their squared residual is below this share of their square.
  double residual_tie = 0;
};

OracleAnswer exact_answer(const Scene& scene, const OracleOptions& options = {});

// What follows is for the files of the oracle alone.

// The products of n clients and c server rows.
struct Products {
  BigMatrix k;
  std::size_t clients = 0;

  std::size_t servers() const { return k.rows - clients; }
  Big sq_distance(std::size_t i, std::size_t j) const { return k(i, i) + k(j, j) - 2 * k(i, j); }
};

// Means of rows: terms[i] are the rows of mixed row i, all with the same weight.
using Buckets = std::vector<std::vector<std::size_t>>;

// Indices of the count smallest, rising; ties to the lower index.
std::vector<std::size_t> smallest_of(const std::vector<Big>& values, std::size_t count);

// The squares of the distances to the client whose median distance to all is least.
// With the server's rows behind the clients.
std::vector<Big> from_centre(const Products& products);

// Who is farther out than reach times the (n - f)-th smallest. Factors: of the distances; none: 1.
std::vector<bool> far_out(const std::vector<Big>& squares, std::size_t f, double reach,
                          const Row& factors);

// A weight for each client, and for the subspace rules for each server row behind them.
std::vector<Big> krum_weights(const Products& products, std::size_t f, bool many);
std::vector<Big> geomed_weights(const Products& products);
std::vector<Big> rage_weights(const Products& products, std::size_t steps, bool raw, double tie);
std::vector<Big> boba_weights(const Products& products, std::size_t f, const std::string& variant,
                              const OracleOptions& options);
std::vector<Big> hull_weights(const Products& products, std::size_t f, const RuleUse& use,
                              const OracleOptions& options);
std::vector<Big> fltrust_weights(const Products& products);

// In d-space: rows are the buckets' means.
using BigRow = std::vector<Big>;
std::vector<BigRow> bucket_means(const Rows& rows, const Buckets& buckets);
std::vector<Big> probing_weights(const Scene& scene, const std::vector<BigRow>& rows, std::size_t f,
                                 const OracleOptions& options);
std::vector<Big> bygars_weights(const Scene& scene, const std::vector<BigRow>& rows);
Row coordinate_answer(const Scene& scene, const Rows& sent, const Buckets& buckets, std::size_t f);

}  // namespace boba::hunt
