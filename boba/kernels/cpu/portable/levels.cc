#include "boba/kernels/cpu/levels.h"

namespace boba::cpu {

const SimdTable* simd_table(SimdLevel level) {
  return level == SimdLevel::kAuto || level == SimdLevel::kBaseline ? &kBaselineTable : nullptr;
}

}  // namespace boba::cpu
