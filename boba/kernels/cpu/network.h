// Sorting networks: which pairs to compare, whatever the numbers.
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
// do not depend on each other stand together. REQUIRES: n < 65536, sorted is a power of two.
std::vector<Comparator> selection_network(std::size_t n, std::size_t first, std::size_t last,
                                          std::size_t sorted = 1);

// The same by whole blocks of rows, each sorted before. Steps work in registers, where single
// comparisons load and store all they touch, but they order more than is asked for. Rows are filled
// up to whole blocks: some of the filling is less than every key, the rest is larger.
struct BlockNetwork {
  std::size_t below = 0;  // so much is less; [below + first, below + last) get what is wanted
  std::size_t rows = 0;   // with the filling
  std::vector<BlockStep> steps;
  std::size_t work = 0;  // comparisons of the steps, and of sorting the block with the filling
};

// REQUIRES: as above; block is a power of two.
BlockNetwork block_network(std::size_t n, std::size_t first, std::size_t last, std::size_t block);

}  // namespace boba::cpu
