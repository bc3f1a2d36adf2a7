// Vectors of 16 bytes: what every processor of the architecture has.
#define BOBA_SIMD_BYTES 16
#include "boba/kernels/cpu/simd/table.h"

namespace boba::cpu {

constinit const SimdTable kBaselineTable = {"baseline", simd_kernels<float>(),
                                            simd_kernels<double>()};

}  // namespace boba::cpu
