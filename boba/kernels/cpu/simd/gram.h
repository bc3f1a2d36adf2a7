// Inner loops of the Gram matrix: packing with block floating point, and tiles of dot products.
#pragma once

#include "boba/kernels/cpu/simd/vectors.h"

namespace boba::cpu {
namespace {

// Exponents of a block's largest number. Within +-kSafeExponent products neither overflow nor lose
// anything that matters to underflow, and the block stays as it is. Beyond, it is scaled to about
// 1. The bound kLargestExponent keeps the factor, and the product of two scales, a normal number.
template <class T>
constexpr int kSafeExponent = sizeof(T) == 4 ? 32 : 400;
template <class T>
constexpr int kLargestExponent = sizeof(T) == 4 ? 126 : 500;
template <class T>
constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;
template <class T>
constexpr int kBias = sizeof(T) == 4 ? 127 : 1023;

template <class T>
BOBA_INLINE T power_of_two(int exponent) {
  return bit_cast<T>(static_cast<Int<T>>(static_cast<Int<T>>(exponent + kBias<T>) << kMantissa<T>));
}

struct PackBits {
  AbsBits row;
  AbsBits packed;
};

// to = factor * row - factor * origin.
template <class T, bool Origin, bool Factor>
PackBits pack_pass(const T* row, const T* origin, T factor, std::size_t width, T* to) {
  IntVec<T> row_bits = {};
  IntVec<T> packed_bits = {};
  std::size_t k = 0;
  for (; k + kLanes<T> <= width; k += kLanes<T>) {
    const auto x = load<Vec<T>>(row + k);
    row_bits = larger(row_bits, abs_bits_of<T, IntVec<T>>(x));
    if constexpr (Factor) {
      store(to + k, x * factor - load<Vec<T>>(origin + k) * factor);
    } else if constexpr (Origin) {
      store(to + k, x - load<Vec<T>>(origin + k));
    } else {
      store(to + k, x);
    }
    if constexpr (Origin) {
      packed_bits = larger(packed_bits, abs_bits_of<T, IntVec<T>>(load<Vec<T>>(to + k)));
    }
  }
  AbsBits row_largest = largest_lane<kLanes<T>>(row_bits);
  AbsBits packed_largest = largest_lane<kLanes<T>>(packed_bits);
  for (; k < width; ++k) {
    const T x = row[k];
    row_largest = larger(row_largest, static_cast<AbsBits>(abs_bits(x)));
    if constexpr (Factor) {
      to[k] = x * factor - origin[k] * factor;
    } else if constexpr (Origin) {
      to[k] = x - origin[k];
    } else {
      to[k] = x;
    }
    packed_largest = larger(packed_largest, static_cast<AbsBits>(abs_bits(to[k])));
  }
  return {row_largest, Origin ? packed_largest : row_largest};
}

template <class T>
PackedBlock pack(const T* row, const T* origin, std::size_t width, T* to) {
  const std::size_t padded = (width + kPackPad - 1) / kPackPad * kPackPad;
  for (std::size_t k = width; k < padded; ++k) to[k] = 0;
  PackBits bits = origin == nullptr ? pack_pass<T, false, false>(row, origin, T{1}, width, to)
                                    : pack_pass<T, true, false>(row, origin, T{1}, width, to);
  if (bits.row >= kInfinityBits<T>) {
    for (std::size_t k = 0; k < width; ++k) to[k] = 0;
    return {bits.row, 1};
  }
  double scale = 1;
  if (bits.packed >= kInfinityBits<T>) {
    // Only the difference is too large for T. A quarter of it is not, and the small numbers lose
    // nothing that shows beside the large one.
    bits.packed = pack_pass<T, true, true>(row, origin, T{0.25}, width, to).packed;
    scale = 4;
  }
  if (bits.packed == 0) return {bits.row, 1};
  int exponent = static_cast<int>(bits.packed >> kMantissa<T>) - kBias<T>;
  if (exponent >= -kSafeExponent<T> && exponent <= kSafeExponent<T>) return {bits.row, scale};
  exponent = exponent < -kLargestExponent<T>  ? -kLargestExponent<T>
             : exponent > kLargestExponent<T> ? kLargestExponent<T>
                                              : exponent;
  const T factor = power_of_two<T>(-exponent);
  for (std::size_t k = 0; k < padded; ++k) to[k] *= factor;
  return {bits.row, scale * power_of_two<double>(exponent)};
}

// Lane l of the result is a[l] + a[l ^ W], or the same of b where l has bit W.
template <int W, class V, int... L>
BOBA_INLINE V fold(V a, V b, std::integer_sequence<int, L...>) {
  constexpr int kSize = sizeof...(L);
  return __builtin_shufflevector(a, b, ((L & W) != 0 ? L + kSize : L)...) +
         __builtin_shufflevector(a, b, ((L & W) != 0 ? (L ^ W) + kSize : (L ^ W))...);
}

// Sums the lanes of N vectors: in the end vector t / lanes holds the sum of vector t in lane
// t % lanes. Every sum is the same tree of additions, wherever its row stands in the tile.
template <class T, int N, int W = 1>
BOBA_INLINE void fold_lanes(Vec<T>* v) {
  if constexpr (W < kLanes<T>) {
    constexpr int kHalf = (N + 1) / 2;
    BOBA_UNROLL for (int t = 0; t < kHalf; ++t) {
      v[t] = fold<W>(v[2 * t], v[2 * t + 1 < N ? 2 * t + 1 : 2 * t],
                     std::make_integer_sequence<int, kLanes<T>>{});
    }
    fold_lanes<T, kHalf, 2 * W>(v);
  }
}

// Products of I rows at a and J rows at b: I * J sums in registers.
template <class T, int I, int J>
BOBA_INLINE void dot_tile(const T* a, const T* b, std::size_t stride, std::size_t width, T* sums) {
  Vec<T> acc[I * J] = {};
  for (std::size_t k = 0; k < width; k += kLanes<T>) {
    Vec<T> y[J];
    BOBA_UNROLL for (int j = 0; j < J; ++j) y[j] = load<Vec<T>>(b + j * stride + k);
    BOBA_UNROLL for (int i = 0; i < I; ++i) {
      const auto x = load<Vec<T>>(a + i * stride + k);
      BOBA_UNROLL for (int j = 0; j < J; ++j) acc[i * J + j] += x * y[j];
    }
  }
  fold_lanes<T, I * J>(acc);
  constexpr int kVectors = (I * J + kLanes<T> - 1) / kLanes<T>;
  BOBA_UNROLL for (int t = 0; t < kVectors; ++t) store(sums + t * kLanes<T>, acc[t]);
}

// As many sums as the registers hold beside the operands.
constexpr int kTileRows = BOBA_SIMD_BYTES == 64 ? 6 : BOBA_SIMD_BYTES == 32 ? 3 : 2;
constexpr int kTileColumns = 4;
static_assert(kPatch % kTileRows == 0 && kPatch % kTileColumns == 0);

// Adds the sums of a tile, scaled, to its place in the matrix.
template <class T>
BOBA_INLINE void add_tile(const T* sums, const double* i_scale, const double* j_scale, double* to,
                          std::size_t stride) {
  constexpr int kAtOnce = kWide < kTileColumns ? kWide : kTileColumns;
  using Sums = typename VectorOf<double, kAtOnce>::type;
  BOBA_UNROLL for (int j = 0; j < kTileColumns; j += kAtOnce) {
    const auto columns = load<Sums>(j_scale + j);
    BOBA_UNROLL for (int i = 0; i < kTileRows; ++i) {
      const auto tile_sums = load<typename VectorOf<T, kAtOnce>::type>(sums + i * kTileColumns + j);
      double* at = to + i * stride + j;
      store<Sums>(at, load<Sums>(at) + widen_lanes<kAtOnce>(tile_sums) * (columns * i_scale[i]));
    }
  }
}

// The same at the edge of the matrix.
template <class T>
void add_edge_tile(const T* sums, const double* i_scale, const double* j_scale, std::size_t i_count,
                   std::size_t j_count, double* to, std::size_t stride) {
  for (std::size_t i = 0; i < i_count; ++i) {
    for (std::size_t j = 0; j < j_count; ++j) {
      const auto sum = static_cast<double>(sums[i * kTileColumns + j]);
      to[i * stride + j] += sum * (j_scale[j] * i_scale[i]);
    }
  }
}

// Fetches rows a few cache lines at a time.
template <class T>
class Fetcher {
 public:
  // Finishes after so many steps.
  Fetcher(const Prefetch<T>& prefetch, std::size_t steps)
      : prefetch_(prefetch), lines_((prefetch.count * lines_per_row() + steps - 1) / steps) {}

  BOBA_INLINE void step() {
    for (std::size_t l = 0; l < lines_ && row_ < prefetch_.count; ++l) {
      __builtin_prefetch(prefetch_.rows[row_] + prefetch_.first + column_, 0, 2);
      column_ += kLine;
      if (column_ >= prefetch_.width + kLine) {
        column_ = 0;
        ++row_;
      }
    }
  }

 private:
  static constexpr std::size_t kLine = 64 / sizeof(T);
  // One more than the width needs: rows seldom begin with a cache line, and one line in thirty that
  // was not fetched costs a tenth of the time of the pass.
  std::size_t lines_per_row() const { return (prefetch_.width + kLine - 1) / kLine + 1; }

  const Prefetch<T>& prefetch_;
  std::size_t lines_;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
};

template <class T>
void products(const Panel<T>& panel, std::size_t i_patch, std::size_t j_patch,
              const Prefetch<T>& prefetch, double* matrix) {
  constexpr std::size_t kI = kTileRows;
  constexpr std::size_t kJ = kTileColumns;
  const std::size_t n = panel.rows;
  const std::size_t i_end = i_patch + kPatch < n ? i_patch + kPatch : n;
  const std::size_t j_end = j_patch + kPatch < n ? j_patch + kPatch : n;
  T sums[kI * kJ + kLanes<T>];
  // A patch on the diagonal has at least half of the tiles.
  const std::size_t blocks = (panel.width + panel.block - 1) / panel.block;
  Fetcher<T> fetcher(prefetch, blocks * (kPatch / kI) * (kPatch / kJ) / 2);
  for (std::size_t first = 0, b = 0; first < panel.width; first += panel.block, ++b) {
    const std::size_t left = panel.width - first;
    const std::size_t width = left < panel.block ? left : panel.block;
    const double* scale = panel.scale + b * panel.scale_stride;
    for (std::size_t i0 = i_patch; i0 < i_end; i0 += kI) {
      for (std::size_t j0 = j_patch; j0 < j_end; j0 += kJ) {
        if (j0 + kJ <= i0) continue;
        fetcher.step();
        dot_tile<T, kTileRows, kTileColumns>(panel.data + i0 * panel.stride + first,
                                             panel.data + j0 * panel.stride + first, panel.stride,
                                             width, sums);
        if (i0 + kI <= n && j0 + kJ <= n) {
          add_tile<T>(sums, scale + i0, scale + j0, matrix + i0 * n + j0, n);
        } else {
          add_edge_tile<T>(sums, scale + i0, scale + j0, n - i0 < kI ? n - i0 : kI,
                           n - j0 < kJ ? n - j0 : kJ, matrix + i0 * n + j0, n);
        }
      }
    }
  }
}

}  // namespace
}  // namespace boba::cpu
