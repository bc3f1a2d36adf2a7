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
};

// The reference, and the processor's at each supported level with 1, 2 and 3 threads. Threads
// start even for the smallest work.
const std::vector<Backend>& backends();

std::vector<SimdLevel> supported_levels();

std::unique_ptr<const Kernels> cpu_kernels(SimdLevel level, int threads);

}  // namespace boba::testing
