// Kernels whose gram() multiplies sketches instead of the rows: n^2 times the sketch's length
// instead of n^2 d. Every other pass is that of the kernels behind, so the output stays exact.
#pragma once

#include <cstdint>
#include <memory>

#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/core/sketch.h"

namespace boba {

// inner must outlive the result and read rows in the host's memory. Make one per round, each with a
// seed of its own. Rows no longer than the sketches are multiplied as they are. Fails where the
// plan has no good length.
Result<std::unique_ptr<const Kernels>> make_sketch_kernels(const Kernels& inner,
                                                           const SketchPlan& plan);

}  // namespace boba
