// The passes over d for Python: one object for each number of threads.
#pragma once

#include <memory>

#include "boba/core/kernels.h"

namespace boba::python {

// threads = 0: all processors this process may use. ValueError outside 0..4096. Thread-safe.
std::shared_ptr<const Kernels> kernels_for(int threads);

}  // namespace boba::python
