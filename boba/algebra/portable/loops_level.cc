#include "boba/algebra/loops.h"

namespace boba::algebra {

const Loops* loops_of(LoopLevel level) {
  return level == LoopLevel::kBaseline ? &kBaselineLoops : nullptr;
}

}  // namespace boba::algebra
