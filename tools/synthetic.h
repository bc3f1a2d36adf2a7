// Label-skewed updates out of a random generator, for the demo and the benchmark.
//
// Class z has a gradient of its own beside a part common to all; some classes pull harder than
// others. Each honest client holds two classes, and its update is their mixture with noise. The
// server sees each class's gradient with noise as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/random.h"
#include "boba/core/views.h"

namespace boba::tools {

struct SyntheticOptions {
  std::size_t honest = 100;
  std::size_t byzantine = 15;  // rows left at zero, after the honest ones
  std::size_t classes = 10;
  std::size_t length = 20000;
  double common = 0.5;  // norm of the common part; the classes' own parts have norms 0.5 to 1.5
  double noise = 0.25;  // norm of a client's and of a server row's noise
  std::uint64_t seed = 1;
  Purpose purpose = Purpose::kSynthetic;
};

struct SyntheticRound {
  UpdateMatrix updates;  // float32, the honest rows first
  UpdateMatrix server;   // a row per class
};

// The same numbers on every machine and for any number of threads.
SyntheticRound make_synthetic(const Kernels& kernels, const SyntheticOptions& options);

// The weights of a mean of n rows.
std::vector<double> mean_weights(std::size_t n);

}  // namespace boba::tools
