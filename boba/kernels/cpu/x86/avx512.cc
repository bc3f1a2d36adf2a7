// Compiled with the F, DQ, BW and VL parts of AVX-512.
#define BOBA_SIMD_BYTES 64
#include "boba/kernels/cpu/simd/table.h"

namespace boba::cpu {

constinit const SimdTable kAvx512Table = {"avx512", simd_kernels<float>(), simd_kernels<double>()};

}  // namespace boba::cpu
