// The inner loops of the processor kernels, as tables of function pointers: one table per level of
// vector instructions, all made from the sources under simd/.
//
// Those sources are compiled several times with different flags. They define nothing with external
// linkage but their table and use no inline function of another header, because the linker would
// keep one copy of such a function, perhaps one made of instructions the processor lacks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace boba::cpu {

// Largest absolute values are tracked as the bits of |x|: they order like |x|, and the bits of
// infinity and NaN exceed those of every finite number, so that no NaN gets lost in a comparison.
using AbsBits = std::uint64_t;

template <class T>
struct IntOf;
template <>
struct IntOf<float> {
  using type = std::int32_t;
};
template <>
struct IntOf<double> {
  using type = std::int64_t;
};
template <class T>
using Int = typename IntOf<T>::type;

template <class T>
inline constexpr AbsBits kInfinityBits = sizeof(T) == 4 ? 0x7f800000 : 0x7ff0000000000000;

// Packed rows are filled up with zeros to a multiple of this many elements.
inline constexpr std::size_t kPackPad = 16;

// Rows and columns of the product matrix that one call of `products` updates. Every tile shape
// divides it.
inline constexpr std::size_t kPatch = 24;

// One row's part of a column block, packed: the numbers are to be multiplied by scale.
struct PackedBlock {
  AbsBits bits = 0;  // of the row before centring; the packed numbers are 0 when not finite
  double scale = 1;  // a power of two
};

// Rows packed side by side: columns in blocks of `block`, row r at data + r * stride.
template <class T>
struct Panel {
  const T* data;
  const double* scale;  // of block b and row r: scale[b * scale_stride + r]
  std::size_t stride;   // a multiple of kPackPad
  std::size_t scale_stride;
  std::size_t rows;   // readable up to the next multiple of kPatch
  std::size_t block;  // columns per block, a multiple of kPackPad
  std::size_t width;  // columns in all, padded to a multiple of kPackPad
};

// Parts of rows that will be packed next: asking for them early hides the memory behind the
// multiplications.
template <class T>
struct Ahead {
  const T* const* rows;
  std::size_t count;
  std::size_t first;  // column
  std::size_t width;
};

// A row's sum of squares, and of products with a reference.
struct RowSums {
  double square = 0;
  double product = 0;
};

// Where a line of 16 columns goes in a sketch: column k to number place ^ k, negated where bit k of
// signs is set.
struct SketchStep {
  std::uint16_t signs;
  std::uint16_t place;
};

// The sorted order of two rows of a tile: the smaller goes to low.
struct Comparator {
  std::uint16_t low;
  std::uint16_t high;
};

// The same for two sorted blocks of rows: the smaller half of each column goes to block low. A
// half is left sorted where asked for.
struct BlockStep {
  std::uint16_t low;
  std::uint16_t high;
  bool sort_low;
  bool sort_high;
};

// Columns of a tile of sort keys: 128 bytes of each row.
template <class T>
inline constexpr std::size_t kKeyColumns = 128 / sizeof(T);

// `ahead` is how many elements further on in its rows a pass will read next, 0 where it ends.
// Tiles make many short reads, too short for the processor to foresee; so each asks for the next.
template <class T>
struct SimdKernels {
  // Packs row - origin (origin may be null) for `width` columns.
  PackedBlock (*pack)(const T* row, const T* origin, std::size_t width, T* to);

  // Adds the products of rows [i, i + kPatch) and [j, j + kPatch) to the upper triangle of the
  // matrix with panel.rows rows and columns. REQUIRES: i <= j, both multiples of kPatch.
  void (*products)(const Panel<T>& panel, std::size_t i, std::size_t j, const Ahead<T>& ahead,
                   double* matrix);

  // sum[k] += sum over rows of weights[r] * rows[r][first + k]. bits, where not null, has one
  // element per row, raised to the largest seen.
  void (*accumulate)(const T* const* rows, const double* weights, std::size_t count,
                     std::size_t first, std::size_t width, std::size_t ahead, double* sum,
                     AbsBits* bits);

  // sum[k] += sum over rows of (rows[r][first + k] - mean[k])^2.
  void (*squares)(const T* const* rows, std::size_t count, std::size_t first, std::size_t width,
                  const double* mean, double* sum);

  // Of `width` columns from `first` of each row: adds <row, row> and, where other is not null,
  // <row, other> to the row's sums, and raises its bits to the largest seen.
  void (*dots)(const T* const* rows, std::size_t count, std::size_t first, const double* other,
               std::size_t width, std::size_t ahead, RowSums* sums, AbsBits* bits);

  // Adds a row to its sketch, a step per 16 columns; returns the largest bits seen.
  AbsBits (*sketch)(const T* row, std::size_t width, const SketchStep* steps, double* sums);

  // Rounds to T and returns the largest bits written.
  AbsBits (*round)(const double* from, std::size_t width, T* to);

  AbsBits (*scan)(const T* row, std::size_t width, std::size_t ahead);

  // Sort keys of `width` numbers of a row, at most kKeyColumns<T>; zeros fill the line up. Returns
  // the largest bits.
  AbsBits (*keys)(const T* row, std::size_t width, std::size_t ahead, Int<T>* to);

  // Sorts a block of sorted_rows rows of a tile.
  std::size_t sorted_rows;
  void (*sort_block)(Int<T>* block);

  // Keys of kKeyColumns<T> columns from `first` of sorted_rows rows, as a sorted block. Row r
  // raises the bits seen[r * kKeyColumns<T>] and on; which of them depends on the vectors.
  void (*sorted_keys)(const T* const* rows, std::size_t first, std::size_t ahead, Int<T>* to,
                      Int<T>* seen);

  // Applies comparators to the rows of a tile, or steps to its blocks of sorted_rows rows. A
  // comparator takes as long as cost_in_memory comparisons of a step.
  double cost_in_memory;
  void (*compare_rows)(Int<T>* tile, const Comparator* comparators, std::size_t count);
  void (*compare_blocks)(Int<T>* tile, const BlockStep* steps, std::size_t count);

  // mean[k] of the numbers whose keys are in `count` adjacent rows of a tile.
  void (*key_mean)(const Int<T>* rows, std::size_t count, double* mean);
};

struct SimdTable {
  const char* name;
  SimdKernels<float> f32;
  SimdKernels<double> f64;
};

extern const SimdTable kBaselineTable;
extern const SimdTable kAvx2Table;
extern const SimdTable kAvx512Table;

}  // namespace boba::cpu
