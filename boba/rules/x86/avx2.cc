// Compiled with -mavx2.
#define BOBA_LOOP_BYTES 32
#include "boba/rules/levels.h"
#include "boba/rules/simd/loops.h"

namespace boba {

constinit const Loops kAvx2Loops = {"avx2", multiply, apply};

}  // namespace boba
