// Compiled with -mavx2.
#define BOBA_LOOP_BYTES 32
#include "boba/algebra/loops_body.h"

namespace boba::algebra {

constinit const Loops kAvx2Loops = {"avx2", multiply, apply};

}  // namespace boba::algebra
