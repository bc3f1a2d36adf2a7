#include "boba/core/size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace boba {

std::size_t width_of(DType dtype) {
  return visit(dtype, [](auto zero) { return sizeof zero; });
}

Result<void> check_size(std::string_view operation, DType dtype, std::size_t rows,
                        std::size_t length) {
  constexpr std::size_t kMost = PTRDIFF_MAX;
  const std::size_t longest = kMost / width_of(dtype) / std::max<std::size_t>(rows, 1);
  if (rows <= kMost / sizeof(void*) && length <= longest) return {};
  return invalid_argument(
      fmt::format("{}: {} row{} of length {}, {}: more bytes than memory can have; the most is {}",
                  operation, rows, rows == 1 ? "" : "s", length, name(dtype), kMost));
}

}  // namespace boba
