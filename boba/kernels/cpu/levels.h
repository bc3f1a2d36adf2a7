// Which tables of inner loops this build and this processor have.
#pragma once

#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/cpu/simd.h"

namespace boba::cpu {

// Null where the level is not built or the processor lacks it. kAuto is the widest there is.
const SimdTable* simd_table(SimdLevel level);

}  // namespace boba::cpu
