#include "boba/rules/levels.h"

namespace boba {

const Loops* loops_of(LoopLevel level) {
  return level == LoopLevel::kBaseline ? &kBaselineLoops : nullptr;
}

}  // namespace boba
