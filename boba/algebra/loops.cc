// Vectors of 16 bytes, which every processor of the architecture has.
#define BOBA_LOOP_BYTES 16
#include "boba/algebra/loops_body.h"

namespace boba::algebra {

constinit const Loops kBaselineLoops = {"baseline", multiply, apply};

const Loops& loops() {
  static const Loops* const wide = loops_of(LoopLevel::kAvx2);
  return wide != nullptr ? *wide : kBaselineLoops;
}

}  // namespace boba::algebra
