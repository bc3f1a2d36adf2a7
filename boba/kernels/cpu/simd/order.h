// Inner loops of order statistics: keys, sorting networks over the rows of a tile, means.
//
// A key is the number's bits made to order like the numbers as signed integers. Unlike floating
// point, integers are totally ordered: -0 before +0 and NaN beyond infinity, on every processor.
#pragma once

#include "boba/kernels/cpu/simd/vectors.h"

namespace boba::cpu {
namespace {

// Negative numbers order backwards: flip all their bits but the sign. It is its own inverse.
template <class T, class I>
BOBA_INLINE I key_flip(I x) {
  return x ^ ((x >> (8 * static_cast<int>(sizeof(T)) - 1)) & kAbsMask<T>);
}

template <class T>
AbsBits keys(const T* row, std::size_t width, std::size_t ahead, Int<T>* to, std::size_t step) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
  IntVec<T> seen = {};
  AbsBits largest = 0;
  for (std::size_t first = 0; first < width; first += kColumns, to += step) {
    const std::size_t here = width - first < kColumns ? width - first : kColumns;
    if (here == kColumns) {
      BOBA_UNROLL for (std::size_t k = 0; k < kColumns; k += kLanes<T>) {
        fetch(row, first + k, ahead);
        const auto x = load<IntVec<T>>(row + first + k);
        seen = larger(seen, x & kAbsMask<T>);
        store(to + k, key_flip<T>(x));
      }
      continue;
    }
    for (std::size_t k = 0; k < kColumns; ++k) to[k] = 0;
    for (std::size_t k = 0; k < here; ++k) {
      const T x = row[first + k];
      largest = larger(largest, static_cast<AbsBits>(abs_bits(x)));
      to[k] = key_flip<T>(bit_cast<Int<T>>(x));
    }
  }
  return larger(largest, largest_lane<kLanes<T>>(seen));
}

template <class V>
BOBA_INLINE void compare(V& low, V& high) {
  const V smaller = low < high ? low : high;
  high = low < high ? high : low;
  low = smaller;
}

// Batcher's merge exchange on registers, unrolled by the compiler; network.cc has the same in
// words.
template <int From, int End, int Step, class V>
BOBA_INLINE void compare_every(V* v) {
  if constexpr (From + Step < End) {
    compare(v[From], v[From + Step]);
    compare_every<From + 2 * Step, End, Step>(v);
  }
}
template <int Start, int Size, int Step, class V>
BOBA_INLINE void merge_registers(V* v) {
  if constexpr (2 * Step >= Size) {
    compare(v[Start], v[Start + Step]);
  } else {
    merge_registers<Start, Size, 2 * Step>(v);
    merge_registers<Start + Step, Size, 2 * Step>(v);
    compare_every<Start + Step, Start + Size, Step>(v);
  }
}
template <int Start, int Size, class V>
BOBA_INLINE void sort_registers(V* v) {
  if constexpr (Size > 1) {
    sort_registers<Start, Size / 2>(v);
    sort_registers<Start + Size / 2, Size / 2>(v);
    merge_registers<Start, Size, 1>(v);
  }
}

// Half the registers: the other half is for what the compiler needs.
constexpr int kSortRows = BOBA_SIMD_BYTES == 64 ? 16 : 8;

template <class T>
void sort_blocks(Int<T>* tile, std::size_t rows) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
  for (std::size_t i = 0; i + kSortRows <= rows; i += kSortRows) {
    for (std::size_t k = 0; k < kColumns; k += kLanes<T>) {
      Int<T>* from = tile + i * kColumns + k;
      IntVec<T> v[kSortRows];
      BOBA_UNROLL for (int r = 0; r < kSortRows; ++r) v[r] = load<IntVec<T>>(from + r * kColumns);
      sort_registers<0, kSortRows>(v);
      BOBA_UNROLL for (int r = 0; r < kSortRows; ++r) store(from + r * kColumns, v[r]);
    }
  }
}

template <class T>
void sort(Int<T>* tile, std::size_t rows, const Comparator* comparators, std::size_t count) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
  sort_blocks<T>(tile, rows);
  for (std::size_t c = 0; c < count; ++c) {
    Int<T>* low = tile + comparators[c].low * kColumns;
    Int<T>* high = tile + comparators[c].high * kColumns;
    BOBA_UNROLL for (std::size_t k = 0; k < kColumns; k += kLanes<T>) {
      auto x = load<IntVec<T>>(low + k);
      auto y = load<IntVec<T>>(high + k);
      compare(x, y);
      store(low + k, x);
      store(high + k, y);
    }
  }
}

template <class T>
void key_mean(const Int<T>* rows, std::size_t count, double* mean) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
  for (std::size_t k = 0; k < kColumns; k += kWide) {
    Doubles sum = {};
    for (std::size_t r = 0; r < count; ++r) {
      const auto x = key_flip<T>(load<FewInts<T>>(rows + r * kColumns + k));
      sum += widen(bit_cast<Few<T>>(x));
    }
    store<Doubles>(mean + k, sum / static_cast<double>(count));
  }
}

}  // namespace
}  // namespace boba::cpu
