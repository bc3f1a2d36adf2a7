// How far a kernel may be from exact arithmetic, from n, d and the type alone.
//
// Bounds of the usual kind: a sum of m rounded terms is off by at most m units of rounding times
// the sum of the absolute terms, which the caller gives as `size`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace boba::testing {

template <class T>
constexpr double unit() {
  return static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
}

// Inner products of centred rows: one rounding for each centred number, one for each product, and
// sums of T along one lane of a block of at most 512 columns, with at least 2 lanes, then in
// double. What underflows is beneath the smallest normal number.
template <class T>
double gram_tolerance(std::size_t d, double size) {
  const double in_block = static_cast<double>(std::min<std::size_t>(d, 512)) / 2 + 16;
  return (in_block * unit<T>() + static_cast<double>(d) * unit<double>()) * size +
         std::numeric_limits<double>::min();
}

// Sums in double of m terms.
inline double sum_tolerance(std::size_t m, double size) {
  return (static_cast<double>(m) + 8) * 2 * unit<double>() * size +
         std::numeric_limits<double>::min();
}

// The same, rounded to T in the end.
template <class T>
double output_tolerance(std::size_t m, double size, double value) {
  return sum_tolerance(m, size) + 2 * unit<T>() * (value < 0 ? -value : value) +
         static_cast<double>(std::numeric_limits<T>::denorm_min());
}

}  // namespace boba::testing
