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
AbsBits keys(const T* row, std::size_t width, std::size_t prefetch, Int<T>* to) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
  if (width == kColumns) {
    IntVec<T> seen = {};
    BOBA_UNROLL for (std::size_t k = 0; k < kColumns; k += kLanes<T>) {
      fetch(row, k, prefetch);
      const auto x = load<IntVec<T>>(row + k);
      seen = larger(seen, x & kAbsMask<T>);
      store(to + k, key_flip<T>(x));
    }
    return largest_lane<kLanes<T>>(seen);
  }
  AbsBits largest = 0;
  for (std::size_t k = 0; k < width; ++k) {
    largest = larger(largest, static_cast<AbsBits>(abs_bits(row[k])));
    to[k] = key_flip<T>(bit_cast<Int<T>>(row[k]));
  }
  for (std::size_t k = width; k < kColumns; ++k) to[k] = 0;
  return largest;
}

template <class V>
BOBA_INLINE void compare(V& low, V& high) {
  const V smaller = low < high ? low : high;
  high = low < high ? high : low;
  low = smaller;
}

// Batcher's merge exchange on registers, unrolled by the compiler. network.cc has the same as data.
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

// Half of the registers; the compiler needs the other half.
constexpr int kSortRows = BOBA_SIMD_BYTES == 64 ? 16 : 8;

template <class T>
BOBA_INLINE void load_block(const Int<T>* from, IntVec<T>* v) {
  BOBA_UNROLL for (int r = 0; r < kSortRows; ++r) v[r] = load<IntVec<T>>(from + r * kKeyColumns<T>);
}
template <class T>
BOBA_INLINE void store_block(const IntVec<T>* v, Int<T>* to) {
  BOBA_UNROLL for (int r = 0; r < kSortRows; ++r) store(to + r * kKeyColumns<T>, v[r]);
}

template <class T>
void sort_block(Int<T>* block) {
  for (std::size_t k = 0; k < kKeyColumns<T>; k += kLanes<T>) {
    IntVec<T> v[kSortRows];
    load_block<T>(block + k, v);
    sort_registers<0, kSortRows>(v);
    store_block<T>(v, block + k);
  }
}

template <class T>
void sorted_keys(const T* const* rows, std::size_t first, std::size_t prefetch, Int<T>* to,
                 Int<T>* seen) {
  for (std::size_t k = 0; k < kKeyColumns<T>; k += kLanes<T>) {
    IntVec<T> v[kSortRows];
    BOBA_UNROLL for (int r = 0; r < kSortRows; ++r) {
      const T* row = rows[r] + first;
      Int<T>* bits = seen + r * kKeyColumns<T>;
      fetch(row, k, prefetch);
      const auto x = load<IntVec<T>>(row + k);
      store(bits, larger(load<IntVec<T>>(bits), x & kAbsMask<T>));
      v[r] = key_flip<T>(x);
    }
    sort_registers<0, kSortRows>(v);
    store_block<T>(v, to + k);
  }
}

// Measured on Zen 4. Steps gain less where a comparison takes several instructions: for 64-bit
// integers without AVX-512, and for all without AVX2.
template <class T>
constexpr double kCostInMemory = BOBA_SIMD_BYTES == 16                     ? 1.2
                                 : BOBA_SIMD_BYTES == 32 && sizeof(T) == 8 ? 1.5
                                                                           : 2.1;

template <class T>
void compare_rows(Int<T>* tile, const Comparator* comparators, std::size_t count) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
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

// Sorts registers that rise and then fall, or fall and then rise.
template <int Start, int Size, class V>
BOBA_INLINE void sort_bitonic(V* v) {
  if constexpr (Size > 1) {
    BOBA_UNROLL for (int r = Start; r < Start + Size / 2; ++r) compare(v[r], v[r + Size / 2]);
    sort_bitonic<Start, Size / 2>(v);
    sort_bitonic<Start + Size / 2, Size / 2>(v);
  }
}

// One block upwards against the other downwards: both halves come out bitonic (K. Batcher).
template <class T>
void compare_blocks(Int<T>* tile, const BlockStep* steps, std::size_t count) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
  for (const BlockStep* step = steps; step < steps + count; ++step) {
    for (std::size_t k = 0; k < kColumns; k += kLanes<T>) {
      Int<T>* low = tile + step->low * kSortRows * kColumns + k;
      Int<T>* high = tile + step->high * kSortRows * kColumns + k;
      IntVec<T> v[kSortRows];
      load_block<T>(low, v);
      BOBA_UNROLL for (int r = 0; r < kSortRows; ++r) {
        Int<T>* opposite = high + (kSortRows - 1 - r) * kColumns;
        auto other = load<IntVec<T>>(opposite);
        compare(v[r], other);
        store(opposite, other);
      }
      if (step->sort_low) sort_bitonic<0, kSortRows>(v);
      store_block<T>(v, low);
      if (!step->sort_high) continue;
      load_block<T>(high, v);
      sort_bitonic<0, kSortRows>(v);
      store_block<T>(v, high);
    }
  }
}

template <class T>
void key_mean(const Int<T>* rows, std::size_t count, double* mean) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
  constexpr int kSums =
      kColumns / kWide < 4 ? kColumns / kWide : 4;  // enough to hide the latency of an addition
  for (std::size_t k = 0; k < kColumns; k += kSums * kWide) {
    Doubles sum[kSums] = {};
    for (std::size_t r = 0; r < count; ++r) {
      BOBA_UNROLL for (int s = 0; s < kSums; ++s) {
        const auto x = key_flip<T>(load<FewInts<T>>(rows + r * kColumns + k + s * kWide));
        sum[s] += widen(bit_cast<Few<T>>(x));
      }
    }
    BOBA_UNROLL for (int s = 0; s < kSums; ++s) {
      store<Doubles>(mean + k + s * kWide, sum[s] / static_cast<double>(count));
    }
  }
}

}  // namespace
}  // namespace boba::cpu
