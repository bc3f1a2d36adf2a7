#include "tests/support/kernels_backends.h"

#include "boba/kernels/cuda/cuda.h"
#include "boba/kernels/reference/reference.h"

namespace boba::testing {

std::vector<SimdLevel> supported_levels() {
  std::vector<SimdLevel> levels;
  for (const SimdLevel level : {SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (simd_supported(level)) levels.push_back(level);
  }
  return levels;
}

std::unique_ptr<const Kernels> cpu_kernels(SimdLevel level, int threads) {
  return make_cpu_kernels({.threads = threads, .simd = level, .grain = 1});
}

const std::vector<Backend>& backends() {
  static const std::vector<Backend> all = [] {
    std::vector<Backend> made;
    made.push_back({"reference", make_reference_kernels()});
    for (const SimdLevel level : supported_levels()) {
      for (const int threads : {1, 2, 3}) {
        auto kernels = cpu_kernels(level, threads);
        std::string name = kernels->name();
        made.push_back({std::move(name), std::move(kernels)});
      }
    }
    // A GPU, where there is one.
    if (auto cuda = make_hosted_cuda_kernels()) {
      std::string name = (*cuda)->name();
      made.push_back({std::move(name), std::move(*cuda), true});
    }
    return made;
  }();
  return all;
}

}  // namespace boba::testing
