// Makes the table of one level. The including source defines BOBA_SIMD_BYTES before.
#pragma once

#include "boba/kernels/cpu/simd/gram.h"
#include "boba/kernels/cpu/simd/order.h"
#include "boba/kernels/cpu/simd/sketch.h"
#include "boba/kernels/cpu/simd/stream.h"

namespace boba::cpu {
namespace {

template <class T>
constexpr SimdKernels<T> simd_kernels() {
  return {.pack = pack<T>,
          .products = products<T>,
          .accumulate = accumulate<T>,
          .squares = squares<T>,
          .dots = dots<T>,
          .sketch = sketch<T>,
          .round = round<T>,
          .scan = scan<T>,
          .keys = keys<T>,
          .sorted_rows = kSortRows,
          .sort_block = sort_block<T>,
          .sorted_keys = sorted_keys<T>,
          .cost_in_memory = kCostInMemory<T>,
          .compare_rows = compare_rows<T>,
          .compare_blocks = compare_blocks<T>,
          .key_mean = key_mean<T>};
}

}  // namespace
}  // namespace boba::cpu
