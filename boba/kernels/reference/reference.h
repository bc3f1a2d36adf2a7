// Kernels as plain loops in double: what the other backends are tested against.
#pragma once

#include <memory>

#include "boba/core/kernels.h"

namespace boba {

std::unique_ptr<const Kernels> make_reference_kernels();

}  // namespace boba
