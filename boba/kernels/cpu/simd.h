// The inner loops of the processor kernels, as tables of function pointers: one table per level of
// vector instructions, all made from the sources under simd/.
//
// Those sources are compiled several times with different flags. They define nothing with external
// linkage except their table and use no inline function of another header: the linker would keep
// one copy of such a function, perhaps one with instructions that the processor lacks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace boba::cpu {

// Largest absolute values are tracked as the bits of |x|: they order like |x|, and the bits of
// infinity and NaN exceed those of every finite number. So no comparison loses a NaN.
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

// Packed rows are padded with zeros to a multiple of this many elements.
inline constexpr std::size_t kPackPad = 16;

// Rows and columns of the product matrix that one call of `products` updates. Every tile shape
// divides it.
inline constexpr std::size_t kPatch = 24;

// What is known of one row in a block of columns after packing. The packed numbers are the true
// ones over scale.
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

// Columns [first, first + width) of rows that are packed next. Fetching them during the
// multiplications hides the latency of memory.
template <class T>
struct Prefetch {
  const T* const* rows;
  std::size_t count;
  std::size_t first;
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

// Compares two rows of a tile, column by column: the smaller key goes to row low.
struct Comparator {
  std::uint16_t low;
  std::uint16_t high;
};

// The same for two sorted blocks of rows: the smaller half of each column's keys goes to block low.
// The flags say which half must be sorted afterwards.
struct BlockStep {
  std::uint16_t low;
  std::uint16_t high;
  bool sort_low;
  bool sort_high;
};

// Columns of a tile of sort keys: 128 bytes of each row.
template <class T>
inline constexpr std::size_t kKeyColumns = 128 / sizeof(T);

// prefetch: a pass reads its rows again so many elements further on; 0 at the end. Reads of a tile
// are too short for the processor to predict the next one, so each fetches ahead itself.
template <class T>
struct SimdKernels {
  // Packs `width` columns of row - origin; origin may be null.
  PackedBlock (*pack)(const T* row, const T* origin, std::size_t width, T* to);

  // Adds the products of rows [i, i + kPatch) and [j, j + kPatch) to the upper triangle of the
  // matrix with panel.rows rows and columns. REQUIRES: i <= j, both multiples of kPatch.
  void (*products)(const Panel<T>& panel, std::size_t i, std::size_t j, const Prefetch<T>& prefetch,
                   double* matrix);

  // sum[k] += sum over rows of weights[r] * rows[r][first + k]. Unless bits is null, bits[r] is
  // raised to the largest of row r.
  void (*accumulate)(const T* const* rows, const double* weights, std::size_t count,
                     std::size_t first, std::size_t width, std::size_t prefetch, double* sum,
                     AbsBits* bits);

  // sum[k] += sum over rows of (rows[r][first + k] - mean[k])^2.
  void (*squares)(const T* const* rows, std::size_t count, std::size_t first, std::size_t width,
                  const double* mean, double* sum);

  // For `width` columns from `first` of each row: adds <row, row> and, unless other is null,
  // <row, other> to the row's sums, and raises the row's bits to the largest.
  void (*dots)(const T* const* rows, std::size_t count, std::size_t first, const double* other,
               std::size_t width, std::size_t prefetch, RowSums* sums, AbsBits* bits);

  // Adds a row to its sketch, one step per 16 columns. Returns the row's largest bits.
  AbsBits (*sketch)(const T* row, std::size_t width, const SketchStep* steps, double* sums);

  // Rounds to T and returns the largest bits written.
  AbsBits (*round)(const double* from, std::size_t width, T* to);

  // Returns the largest bits of the row.
  AbsBits (*scan)(const T* row, std::size_t width, std::size_t prefetch);

  // Sort keys of `width` numbers of a row, at most kKeyColumns<T>; the line is padded with zeros.
  // Returns the largest bits.
  AbsBits (*keys)(const T* row, std::size_t width, std::size_t prefetch, Int<T>* to);

  // Sorts a block of sorted_rows rows of a tile.
  std::size_t sorted_rows;
  void (*sort_block)(Int<T>* block);

  // Keys of kKeyColumns<T> columns from `first` of sorted_rows rows, as a sorted block. Row r
  // raises the bits from seen[r * kKeyColumns<T>] on; how many depends on the vectors.
  void (*sorted_keys)(const T* const* rows, std::size_t first, std::size_t prefetch, Int<T>* to,
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
