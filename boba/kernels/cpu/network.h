// Sorting networks: sequences of comparisons that are the same for all numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "boba/kernels/cpu/simd.h"

namespace boba::cpu {

// A network on n numbers after which the places [first, last) hold, in some order, the numbers
// that sorting would put there. Merge exchange (K. Batcher. Sorting networks and their
// applications. AFIPS 1968), without the comparisons that only order the numbers inside
// [first, last), below it or above it.
//
// The places [k * sorted, (k + 1) * sorted) below n are taken as sorted already. Comparisons that
// do not depend on each other are next to each other. REQUIRES: n < 65536, sorted is a power of
// two.
std::vector<Comparator> selection_network(std::size_t n, std::size_t first, std::size_t last,
                                          std::size_t sorted = 1);

// The same with whole blocks of rows, each sorted before. Steps work in registers, while a single
// comparison loads and stores its two rows, but steps also order more than is wanted. Rows are
// padded to whole blocks, some with keys below all others, the rest with keys above all others.
struct BlockNetwork {
  std::size_t below =
      0;                 // padding rows below; the wanted keys end at [below + first, below + last)
  std::size_t rows = 0;  // with the padding
  std::vector<BlockStep> steps;
  std::size_t work = 0;  // comparisons of the steps, and of sorting the padded block
};

// REQUIRES: as above; block is a power of two.
BlockNetwork block_network(std::size_t n, std::size_t first, std::size_t last, std::size_t block);

}  // namespace boba::cpu
