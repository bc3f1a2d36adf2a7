// The inner loops of the rules' small dense algebra, compiled for several levels of vector
// instructions; the processor decides when the program runs which are used.
//
// All levels give the same bits: a vector's lanes belong to different sums, every sum has one
// order, and products are rounded before they are added. So machines that decide together need not
// have the same processor.
#pragma once

#include <cstddef>
#include <string_view>

namespace boba {

// Element (i, k) is at data[i * row + k * column].
struct Factor {
  const double* data;
  std::size_t row;
  std::size_t column;
};

struct Loops {
  std::string_view name;

  // out = a * b, a of rows by inner, b of inner by columns: rows of b and out are contiguous and
  // begin b_stride and out_stride apart. Each number is summed in the order of inner. out must not
  // overlap a or b.
  void (*multiply)(const Factor& a, const double* b, std::size_t b_stride, double* out,
                   std::size_t out_stride, std::size_t rows, std::size_t inner,
                   std::size_t columns);

  // out[i] = the product of row i of m and x; rows are contiguous and begin stride apart. out must
  // not overlap m or x.
  void (*apply)(const double* m, std::size_t stride, const double* x, double* out, std::size_t rows,
                std::size_t columns);
};

// Wider vectors gain nothing: without fused operations they are no faster where it was measured.
enum class LoopLevel { kBaseline, kAvx2 };

// Null where the level is not built or the processor lacks it.
const Loops* loops_of(LoopLevel level);

// The widest there is.
const Loops& loops();

}  // namespace boba
