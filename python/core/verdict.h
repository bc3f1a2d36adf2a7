// A verdict and what the call around it measured, as Python holds it.
#pragma once

#include "boba/core/verdict.h"

namespace boba::python {

struct HeldVerdict {
  Verdict verdict;
  double seconds = 0;  // inside the engine
};

}  // namespace boba::python
