// Inner loops of the passes that read each row once: weighted sums, squares, dot products.
#pragma once

#include "boba/kernels/cpu/simd/vectors.h"

namespace boba::cpu {
namespace {

// Rows summed at once. More rows read and write the sums less often, but need more registers.
constexpr int kGroup = BOBA_SIMD_BYTES == 64 ? 8 : 4;

// What to prefetch while rows before `r` are read: row r at the same columns, or after the last row
// one of the first rows at the next columns.
template <class T>
BOBA_INLINE const T* next_row(const T* const* rows, std::size_t count, std::size_t r,
                              std::size_t first, std::size_t prefetch) {
  return r < count ? rows[r] + first : rows[r - count] + first + prefetch;
}

// Elements of one cache line.
template <class T>
constexpr std::size_t kLine = 64 / sizeof(T);

template <class T, int R, bool Scan>
BOBA_INLINE void accumulate_rows(const T* const* rows, const T* const* next, const double* weights,
                                 std::size_t first, std::size_t width, double* sum, AbsBits* bits) {
  const T* row[R];
  IntVec<T> seen[R] = {};
  BOBA_UNROLL for (int r = 0; r < R; ++r) row[r] = rows[r] + first;
  std::size_t k = 0;
  for (; k + kLine<T> <= width; k += kLine<T>) {
    BOBA_UNROLL for (int r = 0; r < R; ++r) {
      __builtin_prefetch(next[r] + k, 0, 2);
      if constexpr (Scan) {
        BOBA_UNROLL for (std::size_t t = k; t < k + kLine<T>; t += kLanes<T>) {
          seen[r] = larger(seen[r], abs_bits_of<T, IntVec<T>>(load<Vec<T>>(row[r] + t)));
        }
      }
    }
    BOBA_UNROLL for (std::size_t t = k; t < k + kLine<T>; t += kWide) {
      auto s = load<Doubles>(sum + t);
      BOBA_UNROLL for (int r = 0; r < R; ++r) { s += weights[r] * widen(load<Few<T>>(row[r] + t)); }
      store(sum + t, s);
    }
  }
  for (int r = 0; r < R; ++r) {
    AbsBits largest = largest_lane<kLanes<T>>(seen[r]);
    for (std::size_t t = k; t < width; ++t) {
      if constexpr (Scan) largest = larger(largest, static_cast<AbsBits>(abs_bits(row[r][t])));
      sum[t] += weights[r] * static_cast<double>(row[r][t]);
    }
    if constexpr (Scan) bits[r] = larger(bits[r], largest);
  }
}

template <class T, bool Scan>
void accumulate_all(const T* const* rows, const double* weights, std::size_t count,
                    std::size_t first, std::size_t width, std::size_t prefetch, double* sum,
                    AbsBits* bits) {
  std::size_t r = 0;
  for (; r + kGroup <= count; r += kGroup) {
    const T* next[kGroup];
    for (int t = 0; t < kGroup; ++t)
      next[t] = next_row(rows, count, r + kGroup + t, first, prefetch);
    accumulate_rows<T, kGroup, Scan>(rows + r, next, weights + r, first, width, sum,
                                     Scan ? bits + r : bits);
  }
  for (; r < count; ++r) {
    const T* next = next_row(rows, count, r + 1, first, prefetch);
    accumulate_rows<T, 1, Scan>(rows + r, &next, weights + r, first, width, sum,
                                Scan ? bits + r : bits);
  }
}

template <class T>
void accumulate(const T* const* rows, const double* weights, std::size_t count, std::size_t first,
                std::size_t width, std::size_t prefetch, double* sum, AbsBits* bits) {
  if (bits != nullptr) {
    accumulate_all<T, true>(rows, weights, count, first, width, prefetch, sum, bits);
  } else {
    accumulate_all<T, false>(rows, weights, count, first, width, prefetch, sum, bits);
  }
}

template <class T, int R>
BOBA_INLINE void square_rows(const T* const* rows, std::size_t first, std::size_t width,
                             const double* mean, double* sum) {
  const T* row[R];
  BOBA_UNROLL for (int r = 0; r < R; ++r) row[r] = rows[r] + first;
  std::size_t k = 0;
  for (; k + kWide <= width; k += kWide) {
    const auto centre = load<Doubles>(mean + k);
    auto s = load<Doubles>(sum + k);
    BOBA_UNROLL for (int r = 0; r < R; ++r) {
      const Doubles x = widen(load<Few<T>>(row[r] + k)) - centre;
      s += x * x;
    }
    store(sum + k, s);
  }
  for (; k < width; ++k) {
    for (int r = 0; r < R; ++r) {
      const double x = static_cast<double>(row[r][k]) - mean[k];
      sum[k] += x * x;
    }
  }
}

template <class T>
void squares(const T* const* rows, std::size_t count, std::size_t first, std::size_t width,
             const double* mean, double* sum) {
  std::size_t r = 0;
  for (; r + kGroup <= count; r += kGroup)
    square_rows<T, kGroup>(rows + r, first, width, mean, sum);
  for (; r < count; ++r) square_rows<T, 1>(rows + r, first, width, mean, sum);
}

// Every row has one sum of squares and one of products, so that its numbers do not depend on the
// rows beside it.
template <class T, int R, bool Other>
BOBA_INLINE void dots_rows(const T* const* rows, const T* const* next, std::size_t first,
                           const double* other, std::size_t width, RowSums* sums, AbsBits* bits) {
  const T* row[R];
  IntVec<T> seen[R] = {};
  Doubles squares[R] = {};
  Doubles products[R] = {};
  BOBA_UNROLL for (int r = 0; r < R; ++r) row[r] = rows[r] + first;
  std::size_t k = 0;
  for (; k + kLine<T> <= width; k += kLine<T>) {
    BOBA_UNROLL for (int r = 0; r < R; ++r) {
      __builtin_prefetch(next[r] + k, 0, 2);
      BOBA_UNROLL for (std::size_t t = k; t < k + kLine<T>; t += kLanes<T>) {
        seen[r] = larger(seen[r], abs_bits_of<T, IntVec<T>>(load<Vec<T>>(row[r] + t)));
      }
    }
    BOBA_UNROLL for (std::size_t t = k; t < k + kLine<T>; t += kWide) {
      BOBA_UNROLL for (int r = 0; r < R; ++r) {
        const Doubles x = widen(load<Few<T>>(row[r] + t));
        squares[r] += x * x;
        if constexpr (Other) products[r] += x * load<Doubles>(other + t);
      }
    }
  }
  for (int r = 0; r < R; ++r) {
    AbsBits largest = largest_lane<kLanes<T>>(seen[r]);
    double square = sum_of_lanes<kWide>(squares[r]);
    double product = Other ? sum_of_lanes<kWide>(products[r]) : 0;
    for (std::size_t t = k; t < width; ++t) {
      largest = larger(largest, static_cast<AbsBits>(abs_bits(row[r][t])));
      const double x = static_cast<double>(row[r][t]);
      square += x * x;
      if constexpr (Other) product += x * other[t];
    }
    sums[r].square += square;
    sums[r].product += product;
    bits[r] = larger(bits[r], largest);
  }
}

template <class T, bool Other>
void dots_all(const T* const* rows, std::size_t count, std::size_t first, const double* other,
              std::size_t width, std::size_t prefetch, RowSums* sums, AbsBits* bits) {
  constexpr int kRows = 4;  // enough independent sums to hide the latency of an addition
  std::size_t r = 0;
  for (; r + kRows <= count; r += kRows) {
    const T* next[kRows];
    for (int t = 0; t < kRows; ++t) next[t] = next_row(rows, count, r + kRows + t, first, prefetch);
    dots_rows<T, kRows, Other>(rows + r, next, first, other, width, sums + r, bits + r);
  }
  for (; r < count; ++r) {
    const T* next = next_row(rows, count, r + 1, first, prefetch);
    dots_rows<T, 1, Other>(rows + r, &next, first, other, width, sums + r, bits + r);
  }
}

template <class T>
void dots(const T* const* rows, std::size_t count, std::size_t first, const double* other,
          std::size_t width, std::size_t prefetch, RowSums* sums, AbsBits* bits) {
  if (other != nullptr) {
    dots_all<T, true>(rows, count, first, other, width, prefetch, sums, bits);
  } else {
    dots_all<T, false>(rows, count, first, other, width, prefetch, sums, bits);
  }
}

template <class T>
AbsBits round(const double* from, std::size_t width, T* to) {
  FewInts<T> seen = {};
  std::size_t k = 0;
  for (; k + kWide <= width; k += kWide) {
    const Few<T> x = narrow<T>(load<Doubles>(from + k));
    seen = larger(seen, abs_bits_of<T, FewInts<T>>(x));
    store(to + k, x);
  }
  AbsBits largest = largest_lane<kWide>(seen);
  for (; k < width; ++k) {
    to[k] = static_cast<T>(from[k]);
    largest = larger(largest, static_cast<AbsBits>(abs_bits(to[k])));
  }
  return largest;
}

template <class T>
AbsBits scan(const T* row, std::size_t width, std::size_t prefetch) {
  IntVec<T> seen = {};
  std::size_t k = 0;
  for (; k + kLanes<T> <= width; k += kLanes<T>) {
    fetch(row, k, prefetch);
    seen = larger(seen, abs_bits_of<T, IntVec<T>>(load<Vec<T>>(row + k)));
  }
  AbsBits largest = largest_lane<kLanes<T>>(seen);
  for (; k < width; ++k) largest = larger(largest, static_cast<AbsBits>(abs_bits(row[k])));
  return largest;
}

}  // namespace
}  // namespace boba::cpu
