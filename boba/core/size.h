// How many bytes rows take, and whether they can be addressed.
#pragma once

#include <cstddef>
#include <string_view>

#include "boba/core/result.h"
#include "boba/core/views.h"

namespace boba {

std::size_t width_of(DType dtype);  // bytes of one number

// Refuses rows whose bytes, or whose table of addresses, exceed PTRDIFF_MAX: products of a length
// and a width would overflow. The error begins with the operation.
Result<void> check_size(std::string_view operation, DType dtype, std::size_t rows,
                        std::size_t length);

}  // namespace boba
