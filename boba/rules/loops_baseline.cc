// Vectors of 16 bytes: what every processor of the architecture has.
#define BOBA_LOOP_BYTES 16
#include "boba/rules/levels.h"
#include "boba/rules/simd/loops.h"

namespace boba {

constinit const Loops kBaselineLoops = {"baseline", multiply, apply};

const Loops& loops() {
  static const Loops* const wide = loops_of(LoopLevel::kAvx2);
  return wide != nullptr ? *wide : kBaselineLoops;
}

}  // namespace boba
