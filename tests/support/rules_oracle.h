// The rules by their definitions, plainly, in d-space and double: what the library is held to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/rules_loss.h"
#include "tests/support/rules_round.h"

namespace boba::test::oracle {

Row mean(const Rows& rows);
Row mean_of(const Rows& rows, const std::vector<std::size_t>& chosen);
// Indices of the k smallest values, ties to the lower index.
std::vector<std::size_t> lowest(const std::vector<double>& values, std::size_t k);

Row coomed(const Rows& rows, bool lower);
Row trmean(const Rows& rows, std::size_t f);
std::vector<double> krum_scores(const Rows& rows, std::size_t neighbours);
Row krum(const Rows& rows, std::size_t neighbours);
Row mkrum(const Rows& rows, std::size_t neighbours, std::size_t m);

// Sum of distances, and how far x is from being the geometric median: the norm of the least
// subgradient there, over n.
double distance_sum(const Rows& rows, const Row& x);
double geomed_defect(const Rows& rows, const Row& x);

Row selfrej(const Rows& rows, std::size_t f, const QuadraticLoss& loss, const Row& w, double eta);
Row avgrej(const Rows& rows, std::size_t f, const QuadraticLoss& loss, const Row& w, double eta);
Row zeno(const Rows& rows, std::size_t f, double rho, const QuadraticLoss& loss, const Row& w,
         double eta);
Row fltrust(const Rows& rows, const Row& server);
Row bygars(const Rows& rows, int k, double alpha, const QuadraticLoss& loss, const Row& w,
           double eta);
Row rage(const Rows& rows, std::size_t steps, bool raw);

// Means of buckets of s rows in the order given.
Rows buckets(const Rows& rows, const std::vector<std::size_t>& order, std::size_t s, bool keep);

}  // namespace boba::test::oracle
