// Compiled with -mavx2 -mfma.
#define BOBA_SIMD_BYTES 32
#include "boba/kernels/cpu/simd/table.h"

namespace boba::cpu {

constinit const SimdTable kAvx2Table = {"avx2", simd_kernels<float>(), simd_kernels<double>()};

}  // namespace boba::cpu
