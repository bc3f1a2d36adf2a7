// Inner loops of the passes that read each row once: weighted sums, squares, dot products.
#pragma once

#include "boba/kernels/cpu/simd/vectors.h"

namespace boba::cpu {
namespace {

constexpr int kGroup = 4;  // rows summed together

template <class T, int R, bool Scan>
BOBA_INLINE void accumulate_rows(const T* const* rows, const double* weights, std::size_t first,
                                 std::size_t width, std::size_t ahead, double* sum, AbsBits* bits) {
  const T* row[R];
  FewInts<T> seen[R] = {};
  BOBA_UNROLL for (int r = 0; r < R; ++r) row[r] = rows[r] + first;
  std::size_t k = 0;
  for (; k + kWide <= width; k += kWide) {
    BOBA_UNROLL for (int r = 0; r < R; ++r) fetch(row[r], k, ahead);
    auto s = load<Doubles>(sum + k);
    BOBA_UNROLL for (int r = 0; r < R; ++r) {
      const auto x = load<Few<T>>(row[r] + k);
      if constexpr (Scan) seen[r] = larger(seen[r], abs_bits_of<T, FewInts<T>>(x));
      s += weights[r] * widen(x);
    }
    store(sum + k, s);
  }
  for (int r = 0; r < R; ++r) {
    AbsBits largest = largest_lane<kWide>(seen[r]);
    for (std::size_t t = k; t < width; ++t) {
      if constexpr (Scan) largest = larger(largest, static_cast<AbsBits>(abs_bits(row[r][t])));
      sum[t] += weights[r] * static_cast<double>(row[r][t]);
    }
    if constexpr (Scan) bits[r] = larger(bits[r], largest);
  }
}

template <class T, bool Scan>
void accumulate_all(const T* const* rows, const double* weights, std::size_t count,
                    std::size_t first, std::size_t width, std::size_t ahead, double* sum,
                    AbsBits* bits) {
  std::size_t r = 0;
  for (; r + kGroup <= count; r += kGroup) {
    accumulate_rows<T, kGroup, Scan>(rows + r, weights + r, first, width, ahead, sum,
                                     Scan ? bits + r : bits);
  }
  for (; r < count; ++r) {
    accumulate_rows<T, 1, Scan>(rows + r, weights + r, first, width, ahead, sum,
                                Scan ? bits + r : bits);
  }
}

template <class T>
void accumulate(const T* const* rows, const double* weights, std::size_t count, std::size_t first,
                std::size_t width, std::size_t ahead, double* sum, AbsBits* bits) {
  if (bits != nullptr) {
    accumulate_all<T, true>(rows, weights, count, first, width, ahead, sum, bits);
  } else {
    accumulate_all<T, false>(rows, weights, count, first, width, ahead, sum, bits);
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

template <class T, bool Other>
AbsBits dots_pass(const T* row, const double* other, std::size_t width, std::size_t ahead,
                  double* square, double* product) {
  constexpr int kChains = 4;  // enough independent sums to hide the latency of an addition
  FewInts<T> seen = {};
  Doubles squares_sum[kChains] = {};
  Doubles products_sum[kChains] = {};
  std::size_t k = 0;
  for (; k + kChains * kWide <= width; k += kChains * kWide) {
    BOBA_UNROLL for (int c = 0; c < kChains; ++c) {
      fetch(row, k + c * kWide, ahead);
      const auto few = load<Few<T>>(row + k + c * kWide);
      seen = larger(seen, abs_bits_of<T, FewInts<T>>(few));
      const Doubles x = widen(few);
      squares_sum[c] += x * x;
      if constexpr (Other) products_sum[c] += x * load<Doubles>(other + k + c * kWide);
    }
  }
  AbsBits largest = largest_lane<kWide>(seen);
  double square_tail = 0;
  double product_tail = 0;
  for (; k < width; ++k) {
    largest = larger(largest, static_cast<AbsBits>(abs_bits(row[k])));
    const double x = static_cast<double>(row[k]);
    square_tail += x * x;
    if constexpr (Other) product_tail += x * other[k];
  }
  *square +=
      sum_of_lanes<kWide>((squares_sum[0] + squares_sum[1]) + (squares_sum[2] + squares_sum[3])) +
      square_tail;
  if constexpr (Other) {
    *product += sum_of_lanes<kWide>((products_sum[0] + products_sum[1]) +
                                    (products_sum[2] + products_sum[3])) +
                product_tail;
  }
  return largest;
}

template <class T>
AbsBits dots(const T* row, const double* other, std::size_t width, std::size_t ahead,
             double* square, double* product) {
  return other != nullptr ? dots_pass<T, true>(row, other, width, ahead, square, product)
                          : dots_pass<T, false>(row, other, width, ahead, square, product);
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
AbsBits scan(const T* row, std::size_t width, std::size_t ahead) {
  IntVec<T> seen = {};
  std::size_t k = 0;
  for (; k + kLanes<T> <= width; k += kLanes<T>) {
    fetch(row, k, ahead);
    seen = larger(seen, abs_bits_of<T, IntVec<T>>(load<Vec<T>>(row + k)));
  }
  AbsBits largest = largest_lane<kLanes<T>>(seen);
  for (; k < width; ++k) largest = larger(largest, static_cast<AbsBits>(abs_bits(row[k])));
  return largest;
}

}  // namespace
}  // namespace boba::cpu
