// Gamma and Dirichlet numbers from the counter-based generator.
//
// G. Marsaglia, W. W. Tsang. A Simple Method for Generating Gamma Variables. ACM TOMS 26(3), 2000.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boba/core/random.h"

namespace boba::sim {

// The logarithm of a Gamma(shape, 1) number, from the numbers of the key at first, first + 1, ...
// A logarithm, since with shape 0.001 most of them are below the smallest double.
// REQUIRES: shape > 0.
double log_gamma_at(const StreamKey& key, std::uint64_t first, double shape);

// Logarithms of a Dirichlet(shapes) draw; minus infinity where the shape is 0. Number z comes from
// the key's positions from z * 2^32 on. REQUIRES: shapes >= 0, one of them more.
std::vector<double> log_dirichlet(const StreamKey& key, std::span<const double> shapes);

}  // namespace boba::sim
