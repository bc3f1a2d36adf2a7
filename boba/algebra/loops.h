// Products of small dense matrices. The loops are compiled for several levels of vector
// instructions, and the program takes the widest that the processor has.
//
// All levels give the same bits: the lanes of a vector belong to different sums, every sum has one
// order, and products are rounded before they are added. So the ranks of a job may have different
// processors and still take the same decision.
#pragma once

#include <cstddef>
#include <string_view>

namespace boba::algebra {

// Element (i, k) is at data[i * row + k * column], so a matrix can be read as its transpose.
struct StridedMatrix {
  const double* data;
  std::size_t row;
  std::size_t column;
};

struct Loops {
  std::string_view name;

  // out = a * b, where a is rows by inner and b is inner by columns. Rows of b and out are
  // contiguous and begin b_stride and out_stride apart. Each sum runs in the order of inner. out
  // must not overlap a or b.
  void (*multiply)(const StridedMatrix& a, const double* b, std::size_t b_stride, double* out,
                   std::size_t out_stride, std::size_t rows, std::size_t inner,
                   std::size_t columns);

  // out = m * x. Rows of m are contiguous and begin stride apart. out must not overlap m or x.
  void (*apply)(const double* m, std::size_t stride, const double* x, double* out, std::size_t rows,
                std::size_t columns);
};

// AVX-512 is not offered: without fused operations it was no faster.
enum class LoopLevel { kBaseline, kAvx2 };

// Null where the level is not built or the processor lacks it.
const Loops* loops_of(LoopLevel level);

// The widest level that runs here.
const Loops& loops();

extern const Loops kBaselineLoops;
extern const Loops kAvx2Loops;  // built for x86-64 only

}  // namespace boba::algebra
