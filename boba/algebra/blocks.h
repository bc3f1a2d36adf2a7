// Blocks of vectors, and helpers that the eigensolvers share.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "boba/algebra/loops.h"

namespace boba::algebra {

// One vector in each column. Rows are contiguous: a row holds one entry of each vector.
using BlockOfVectors = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kConvergedResidual = 1e-12;  // relative to the eigenvalue

// Numbers between -1 and 1 without a pattern that an input could share.
inline double pseudo_random(Eigen::Index i, Eigen::Index j, std::uint64_t seed = 0) {
  std::uint64_t x = (static_cast<std::uint64_t>(i) << 32 | static_cast<std::uint64_t>(j + 1)) *
                        0x9E3779B97F4A7C15U +
                    seed;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1;
}

// A seed from the matrix's own bits. Nobody can know vectors drawn with it before the last row of
// the matrix is known.
inline std::uint64_t seed_of(const Eigen::MatrixXd& m) {
  std::uint64_t seed = 0;
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    for (const double x : {m(i, i), m(i, (i + 1) % m.rows())}) {
      seed = (seed ^ std::bit_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15U;
      seed ^= seed >> 29;
    }
  }
  return seed;
}

// The largest norm of a residual that counts as converged, in a matrix of n rows with this largest
// value. Values below the rounding of the largest have no vectors to converge to.
inline double allowed_residual(double value, double largest, Eigen::Index n) {
  const double rounding =
      4 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(n)) * largest;
  return std::max(kConvergedResidual * value, rounding);
}

// out = a' * b.
inline void multiply_transposed(const BlockOfVectors& a, const BlockOfVectors& b,
                                BlockOfVectors& out) {
  const auto inner = static_cast<std::size_t>(a.rows());
  const auto left = static_cast<std::size_t>(a.cols());
  const auto right = static_cast<std::size_t>(b.cols());
  out.resize(a.cols(), b.cols());
  loops().multiply({a.data(), 1, left}, b.data(), right, out.data(), right, left, inner, right);
}

// out = a * b, with a stored by rows or symmetric.
template <class Left>
void multiply_blocks(const Left& a, const BlockOfVectors& b, BlockOfVectors& out) {
  const auto rows = static_cast<std::size_t>(a.rows());
  const auto inner = static_cast<std::size_t>(a.cols());
  const auto right = static_cast<std::size_t>(b.cols());
  out.resize(a.rows(), b.cols());
  loops().multiply({a.data(), inner, 1}, b.data(), right, out.data(), right, rows, inner, right);
}

}  // namespace boba::algebra
