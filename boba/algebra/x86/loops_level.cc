#include "boba/algebra/loops.h"

namespace boba::algebra {

const Loops* loops_of(LoopLevel level) {
  __builtin_cpu_init();
  if (level == LoopLevel::kBaseline) return &kBaselineLoops;
  return __builtin_cpu_supports("avx2") ? &kAvx2Loops : nullptr;
}

}  // namespace boba::algebra
