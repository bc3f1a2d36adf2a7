// The server's gradient of each class, for attackers who look at it.
#pragma once

#include <cstddef>

#include "boba/core/kernels.h"
#include "boba/core/views.h"

namespace boba::sim {

// The mean of a class's parts, which stand one after the other in server; with one part server
// itself. means keeps the rows from call to call.
UpdateView class_means(const Kernels& kernels, const UpdateView& server, std::size_t parts,
                       UpdateMatrix& means);

}  // namespace boba::sim
