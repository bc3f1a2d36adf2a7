// Kernels on the processor: threads, tiles that stay in cache, vector instructions.
//
// Every pass divides its work the same way for any number of threads, so results do not depend on
// it. There is no pool and no global state: a pass starts the threads it needs and joins them, and
// several callers may use one object at once.
#pragma once

#include <cstddef>
#include <memory>

#include "boba/core/kernels.h"

namespace boba {

// Vector instructions to use. Results may differ in the last bits from one level to another.
enum class SimdLevel { kAuto, kBaseline, kAvx2, kAvx512 };

// Whether this build and this processor offer the level.
bool simd_supported(SimdLevel level);

struct CpuOptions {
  int threads = 0;                           // 0: all processors this process may use
  SimdLevel simd = SimdLevel::kAuto;         // kAuto: the widest supported
  std::size_t grain = std::size_t{1} << 19;  // bytes to read that are worth one more thread
};

// REQUIRES: simd_supported(options.simd).
std::unique_ptr<const Kernels> make_cpu_kernels(const CpuOptions& options = {});

}  // namespace boba
