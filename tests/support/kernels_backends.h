// The backends every kernel test runs over.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/kernels/cpu/cpu.h"

namespace boba::testing {

struct Backend {
  std::string name;
  std::unique_ptr<const Kernels> kernels;
  bool own_logarithm = false;  // whose last bits need not be the processor's
};

// The reference, the processor's at each supported level with 1, 2 and 3 threads, which start even
// for the smallest work, and the GPU's where there is one.
const std::vector<Backend>& backends();

std::vector<SimdLevel> supported_levels();

std::unique_ptr<const Kernels> cpu_kernels(SimdLevel level, int threads);

}  // namespace boba::testing
