// The loops behind boba/algebra/loops.h, for vectors of BOBA_LOOP_BYTES bytes.
//
// This file is compiled several times with different flags. So everything here has internal linkage
// and uses no inline function of another header: the linker would keep one copy of such a function,
// perhaps one with instructions that the processor lacks. Contraction to fused multiply-adds is
// off.
#pragma once

#include "boba/algebra/loops.h"

#if defined(__clang__)
#define BOBA_LOOP_UNROLL _Pragma("unroll")
#else
#define BOBA_LOOP_UNROLL _Pragma("GCC unroll 32")
#endif
#define BOBA_LOOP_INLINE inline __attribute__((always_inline))

namespace boba::algebra {
namespace {

constexpr std::size_t kLanes = BOBA_LOOP_BYTES / sizeof(double);
// Sums kept in registers: kTileRows rows by kTileVectors vectors.
constexpr std::size_t kTileRows = 4;
constexpr std::size_t kTileVectors = 3;
// apply() splits a sum into so many at every level, so that the bits are the same.
constexpr std::size_t kPartialSums = 8;

template <std::size_t Lanes>
struct VectorOf {
  typedef double type __attribute__((vector_size(Lanes * sizeof(double))));
};
template <>
struct VectorOf<1> {
  using type = double;
};
template <std::size_t Lanes>
using Vector = typename VectorOf<Lanes>::type;

template <class V>
BOBA_LOOP_INLINE V load(const double* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <class V>
BOBA_LOOP_INLINE void store(double* to, V v) {
  __builtin_memcpy(to, &v, sizeof v);
}

struct Product {
  StridedMatrix a;
  const double* b;
  std::size_t b_stride;
  double* out;
  std::size_t out_stride;
  std::size_t rows;
  std::size_t inner;
  std::size_t columns;
};

// Rows [i, i + Rows) and the vectors that begin at the columns of `at`.
template <std::size_t Lanes, std::size_t Rows, std::size_t Vectors>
BOBA_LOOP_INLINE void tile(const Product& p, std::size_t i, const std::size_t* at) {
  using V = Vector<Lanes>;
  V sums[Rows][Vectors] = {};
  const double* a = p.a.data + i * p.a.row;
  for (std::size_t k = 0; k < p.inner; ++k) {
    const double* b = p.b + k * p.b_stride;
    V right[Vectors];
    BOBA_LOOP_UNROLL for (std::size_t v = 0; v < Vectors; ++v) right[v] = load<V>(b + at[v]);
    BOBA_LOOP_UNROLL for (std::size_t r = 0; r < Rows; ++r) {
      const double left = a[r * p.a.row + k * p.a.column];
      BOBA_LOOP_UNROLL for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] += left * right[v];
    }
  }
  BOBA_LOOP_UNROLL for (std::size_t r = 0; r < Rows; ++r) {
    BOBA_LOOP_UNROLL for (std::size_t v = 0; v < Vectors; ++v) {
      store(p.out + (i + r) * p.out_stride + at[v], sums[r][v]);
    }
  }
}

// The last tile and the last vector may overlap the one before; they write the same numbers again.
template <std::size_t Lanes, std::size_t Vectors>
BOBA_LOOP_INLINE void all_rows(const Product& p, const std::size_t* at) {
  if (p.rows < kTileRows) {
    for (std::size_t i = 0; i < p.rows; ++i) tile<Lanes, 1, Vectors>(p, i, at);
    return;
  }
  for (std::size_t i = 0; i < p.rows; i += kTileRows) {
    tile<Lanes, kTileRows, Vectors>(p, i + kTileRows > p.rows ? p.rows - kTileRows : i, at);
  }
}

// Fewer columns than a vector holds take shorter vectors.
template <std::size_t Lanes>
void multiply_by(const Product& p) {
  if constexpr (Lanes > 1) {
    if (p.columns < Lanes) return multiply_by<Lanes / 2>(p);
  }
  for (std::size_t j = 0; j < p.columns;) {
    std::size_t at[kTileVectors];
    std::size_t vectors = 0;
    for (; vectors < kTileVectors && j < p.columns; ++vectors, j += Lanes) {
      at[vectors] = j + Lanes > p.columns ? p.columns - Lanes : j;
    }
    if (vectors == 3) {
      all_rows<Lanes, 3>(p, at);
    } else if (vectors == 2) {
      all_rows<Lanes, 2>(p, at);
    } else {
      all_rows<Lanes, 1>(p, at);
    }
  }
}

void multiply(const StridedMatrix& a, const double* b, std::size_t b_stride, double* out,
              std::size_t out_stride, std::size_t rows, std::size_t inner, std::size_t columns) {
  multiply_by<kLanes>({a, b, b_stride, out, out_stride, rows, inner, columns});
}

template <std::size_t Rows>
BOBA_LOOP_INLINE void dots(const double* m, std::size_t stride, const double* x, double* out,
                           std::size_t columns) {
  using V = Vector<kLanes>;
  constexpr std::size_t kVectors = kPartialSums / kLanes;
  V sums[Rows][kVectors] = {};
  std::size_t k = 0;
  for (; k + kPartialSums <= columns; k += kPartialSums) {
    BOBA_LOOP_UNROLL for (std::size_t v = 0; v < kVectors; ++v) {
      const V right = load<V>(x + k + v * kLanes);
      BOBA_LOOP_UNROLL for (std::size_t r = 0; r < Rows; ++r) {
        sums[r][v] += load<V>(m + r * stride + k + v * kLanes) * right;
      }
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    double partial[kPartialSums];
    for (std::size_t v = 0; v < kVectors; ++v) store(partial + v * kLanes, sums[r][v]);
    for (std::size_t rest = k; rest < columns; ++rest) {
      partial[rest - k] += m[r * stride + rest] * x[rest];
    }
    out[r] = ((partial[0] + partial[4]) + (partial[2] + partial[6])) +
             ((partial[1] + partial[5]) + (partial[3] + partial[7]));
  }
}

void apply(const double* m, std::size_t stride, const double* x, double* out, std::size_t rows,
           std::size_t columns) {
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) dots<4>(m + i * stride, stride, x, out + i, columns);
  for (; i < rows; ++i) dots<1>(m + i * stride, stride, x, out + i, columns);
}

}  // namespace
}  // namespace boba::algebra
