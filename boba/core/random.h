// Random numbers that depend on a key and a position only, never on threads, devices or libraries.
//
// A counter-based generator (Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw. Parallel
// Random Numbers: As Easy as 1, 2, 3. SC 2011) keyed by seed, round, client and purpose.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boba/core/result.h"

namespace boba {

// What the numbers are for: streams of different purposes never meet.
enum class Purpose : std::uint32_t {
  kBucketing = 1,
  kGauss = 2,
  kSynthetic = 3,
  kBench = 4,
  kData = 5,          // the built-in data set
  kPartition = 6,     // which examples a client holds
  kServerSample = 7,  // which examples the server holds
  kCorruption = 8,    // noise and blur on images
  kCohort = 9,        // who takes part in a round
  kBatch = 10,        // which examples a local step sees
  kModel = 11,        // initial parameters
  kSubset = 12,       // which examples of a data set are kept
  kSketch = 13,       // random projections of updates
  kNoise = 14,        // what attackers add so that no update is a copy
};

struct StreamKey {
  std::uint64_t seed = 0;
  std::uint32_t round = 0;
  std::uint32_t client = 0;
  Purpose purpose = Purpose::kGauss;
};

// Four 32-bit words of the stream at a position.
std::array<std::uint32_t, 4> random_block(const StreamKey& key, std::uint64_t position);

// Uniform on the open interval (0, 1), 52 bits; two per block.
double uniform_at(const StreamKey& key, std::uint64_t index);

// Standard normal: the quantile of uniform_at.
double normal_at(const StreamKey& key, std::uint64_t index);

// Inverse of the standard normal distribution function (M. Wichura, algorithm AS 241, relative
// accuracy about 1e-16). REQUIRES: 0 < p < 1.
double normal_quantile(double p);

// A permutation of 0..n-1, Fisher-Yates.
std::vector<std::size_t> permutation(const StreamKey& key, std::size_t n);

// 64 bits from the operating system, for a seed that no client knows.
Result<std::uint64_t> fresh_seed();

}  // namespace boba
