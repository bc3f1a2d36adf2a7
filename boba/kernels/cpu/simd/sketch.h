// Inner loop of sketches: signs, an exchange of lanes, and additions in double.
#pragma once

#include "boba/kernels/cpu/simd/vectors.h"

namespace boba::cpu {
namespace {

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<double> {
  using type = std::uint64_t;
};
template <class T>
using BitsVec = typename VectorOf<typename BitsOf<T>::type, kLanes<T>>::type;

template <class V, int... L>
BOBA_INLINE V lane_numbers(std::integer_sequence<int, L...>) {
  return V{L...};
}
template <class T>
BOBA_INLINE BitsVec<T> lane_numbers() {
  return lane_numbers<BitsVec<T>>(std::make_integer_sequence<int, kLanes<T>>{});
}

// -x in the lanes l where bit l of signs is set.
template <class T>
BOBA_INLINE Vec<T> negate(Vec<T> x, unsigned signs) {
  using B = typename BitsOf<T>::type;
  constexpr B kTop = B{1} << (8 * sizeof(T) - 1);
  // Bit l goes to the top of lane l.
  const BitsVec<T> shifts = (8 * sizeof(T) - 1) - lane_numbers<T>();
  const BitsVec<T> mask = ((BitsVec<T>{} + static_cast<B>(signs)) << shifts) & kTop;
  return bit_cast<Vec<T>>(bit_cast<BitsVec<T>>(x) ^ mask);
}

// Lane l of the result is lane l ^ m.
template <class T, int W = 1>
BOBA_INLINE Vec<T> exchange(Vec<T> x, unsigned m) {
#if defined(__AVX512F__)
  using B = typename BitsOf<T>::type;
  const BitsVec<T> from = lane_numbers<T>() ^ static_cast<B>(m);
  if constexpr (sizeof(T) == 4) {
    return bit_cast<Vec<T>>(
        _mm512_maskz_permutexvar_ps(0xffff, bit_cast<__m512i>(from), bit_cast<__m512>(x)));
  } else {
    return bit_cast<Vec<T>>(
        _mm512_maskz_permutexvar_pd(0xff, bit_cast<__m512i>(from), bit_cast<__m512d>(x)));
  }
#else
  if constexpr (W < kLanes<T>) {
    using B = typename BitsOf<T>::type;
    const Vec<T> swapped = swap_lanes<W>(x, std::make_integer_sequence<int, kLanes<T>>{});
    const BitsVec<T> take = BitsVec<T>{} - static_cast<B>((m / W) & 1);
    const BitsVec<T> mixed =
        (bit_cast<BitsVec<T>>(swapped) & take) | (bit_cast<BitsVec<T>>(x) & ~take);
    return exchange<T, 2 * W>(bit_cast<Vec<T>>(mixed), m);
  } else {
    return x;
  }
#endif
}

template <class T, int From, int... L>
BOBA_INLINE Few<T> few_of(Vec<T> x, std::integer_sequence<int, L...>) {
  return __builtin_shufflevector(x, x, (From + L)...);
}

template <class T, int From = 0>
BOBA_INLINE void add_wide(Vec<T> x, double* to) {
  if constexpr (From < kLanes<T>) {
    const auto few = few_of<T, From>(x, std::make_integer_sequence<int, kWide>{});
    store<Doubles>(to + From, load<Doubles>(to + From) + widen(few));
    add_wide<T, From + kWide>(x, to);
  }
}

constexpr std::size_t kSketchPrefetch = 2048;

template <class T>
AbsBits sketch(const T* row, std::size_t width, const SketchStep* steps, double* sums) {
  constexpr std::size_t kLine = 16;
  IntVec<T> seen = {};
  std::size_t k = 0;
  for (; k + kLine <= width; k += kLine, ++steps) {
    const unsigned place = steps->place;
    // Beyond the page, where the processor's own prefetching ends. Past the row's end it is
    // harmless.
    __builtin_prefetch(row + k + kSketchPrefetch, 0, 2);
    BOBA_UNROLL for (unsigned v = 0; v < kLine; v += kLanes<T>) {
      const auto x = load<Vec<T>>(row + k + v);
      seen = larger(seen, abs_bits_of<T, IntVec<T>>(x));
      const Vec<T> turned = exchange<T>(negate<T>(x, steps->signs >> v), place % kLanes<T>);
      add_wide<T>(turned, sums + ((place ^ v) & ~(kLanes<T> - 1U)));
    }
  }
  AbsBits largest = largest_lane<kLanes<T>>(seen);
  for (unsigned v = 0; k + v < width; ++v) {
    const T x = row[k + v];
    largest = larger(largest, static_cast<AbsBits>(abs_bits(x)));
    const double wide = static_cast<double>(x);
    sums[steps->place ^ v] += (steps->signs >> v & 1) != 0 ? -wide : wide;
  }
  return largest;
}

}  // namespace
}  // namespace boba::cpu
