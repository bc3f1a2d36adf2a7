// The tables that this build may have; loops.h says which of them run here.
#pragma once

#include "boba/rules/loops.h"

namespace boba {

extern const Loops kBaselineLoops;
extern const Loops kAvx2Loops;  // x86 only

}  // namespace boba
