// Vectors of BOBA_SIMD_BYTES bytes, by the vector extension that GCC and Clang share.
//
// Everything under simd/ has internal linkage; see boba/kernels/cpu/simd.h for why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>  // std::integer_sequence, a type without functions

#include "boba/kernels/cpu/simd.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

// Small loops over registers must be unrolled.
#if defined(__clang__)
#define BOBA_UNROLL _Pragma("unroll")
#else
#define BOBA_UNROLL _Pragma("GCC unroll 32")
#endif
#define BOBA_INLINE inline __attribute__((always_inline))

namespace boba::cpu {
namespace {

template <class T, int Lanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(Lanes * sizeof(T))));
};

template <class T>
constexpr int kLanes = BOBA_SIMD_BYTES / static_cast<int>(sizeof(T));
constexpr int kWide = kLanes<double>;

template <class T>
using Vec = typename VectorOf<T, kLanes<T>>::type;
template <class T>
using IntVec = typename VectorOf<Int<T>, kLanes<T>>::type;

// Sums are in double: the stream kernels take as many elements at a time as doubles fit a vector.
using Doubles = Vec<double>;
template <class T>
using Few = typename VectorOf<T, kWide>::type;
template <class T>
using FewInts = typename VectorOf<Int<T>, kWide>::type;

template <class V>
BOBA_INLINE V load(const void* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <class V>
BOBA_INLINE void store(void* to, V v) {
  __builtin_memcpy(to, &v, sizeof v);
}

// Fetches the cache line `prefetch` elements further on, if k is the first element of a line.
template <class T>
BOBA_INLINE void fetch(const T* row, std::size_t k, std::size_t prefetch) {
  if (k % (64 / sizeof(T)) == 0 && prefetch != 0) __builtin_prefetch(row + k + prefetch, 0, 2);
}

template <class To, class From>
BOBA_INLINE To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// GCC 12 splits the conversion to double into pieces, hence the intrinsics; the masked one because
// the plain one sets off a false warning there.
template <int Lanes>
BOBA_INLINE auto widen_lanes(typename VectorOf<float, Lanes>::type x) {
  using Wide = typename VectorOf<double, Lanes>::type;
#if defined(__AVX512F__)
  if constexpr (Lanes == 8) {
    return bit_cast<Wide>(_mm512_maskz_cvtps_pd(0xff, bit_cast<__m256>(x)));
  }
#endif
#if defined(__AVX__)
  if constexpr (Lanes == 4) return bit_cast<Wide>(_mm256_cvtps_pd(bit_cast<__m128>(x)));
#endif
#if defined(__SSE2__)
  if constexpr (Lanes == 2) {
    const __m128i low = _mm_cvtsi64_si128(bit_cast<long long>(x));
    return bit_cast<Wide>(_mm_cvtps_pd(_mm_castsi128_ps(low)));
  }
#endif
  return __builtin_convertvector(x, Wide);
}
template <int Lanes>
BOBA_INLINE auto widen_lanes(typename VectorOf<double, Lanes>::type x) {
  return x;
}

template <class V>
BOBA_INLINE Doubles widen(V x) {
  return widen_lanes<kWide>(x);
}

template <class T>
BOBA_INLINE Few<T> narrow(Doubles x) {
  return __builtin_convertvector(x, Few<T>);
}

template <class T>
constexpr Int<T> kAbsMask = static_cast<Int<T>>(~(Int<T>{1} << (8 * sizeof(T) - 1)));

template <class I>
BOBA_INLINE I larger(I a, I b) {
  return a > b ? a : b;
}

// The bits of |x|, for a number or a vector of numbers.
template <class T>
BOBA_INLINE Int<T> abs_bits(T x) {
  return static_cast<Int<T>>(bit_cast<Int<T>>(x) & kAbsMask<T>);
}
template <class T, class I, class V>
BOBA_INLINE I abs_bits_of(V x) {
  return bit_cast<I>(x) & kAbsMask<T>;
}

// Lane l of the result is lane l ^ W.
template <int W, class V, int... L>
BOBA_INLINE V swap_lanes(V v, std::integer_sequence<int, L...>) {
  return __builtin_shufflevector(v, v, (L ^ W)...);
}

template <int Lanes, int W = 1, class V>
BOBA_INLINE AbsBits largest_lane(V v) {
  if constexpr (W < Lanes) {
    const V swapped = swap_lanes<W>(v, std::make_integer_sequence<int, Lanes>{});
    return largest_lane<Lanes, 2 * W>(larger(v, swapped));
  } else {
    return static_cast<AbsBits>(v[0]);
  }
}

template <int Lanes, int W = 1, class V>
BOBA_INLINE double sum_of_lanes(V v) {
  if constexpr (W < Lanes) {
    const V swapped = swap_lanes<W>(v, std::make_integer_sequence<int, Lanes>{});
    return sum_of_lanes<Lanes, 2 * W>(v + swapped);
  } else {
    return v[0];
  }
}

}  // namespace
}  // namespace boba::cpu
