#include "boba/kernels/cpu/levels.h"

namespace boba::cpu {
namespace {

bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

bool has_avx512() {
  __builtin_cpu_init();
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

}  // namespace

const SimdTable* simd_table(SimdLevel level) {
  switch (level) {
    case SimdLevel::kAuto:
      return has_avx512() ? &kAvx512Table : has_avx2() ? &kAvx2Table : &kBaselineTable;
    case SimdLevel::kBaseline:
      return &kBaselineTable;
    case SimdLevel::kAvx2:
      return has_avx2() ? &kAvx2Table : nullptr;
    case SimdLevel::kAvx512:
      return has_avx512() ? &kAvx512Table : nullptr;
  }
  return nullptr;
}

}  // namespace boba::cpu
