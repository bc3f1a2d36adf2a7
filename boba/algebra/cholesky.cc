#include "boba/algebra/cholesky.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "boba/algebra/loops.h"

namespace boba::algebra {
namespace {

using Eigen::Index;

constexpr std::size_t kBand = 16;      // rows factored together
constexpr double kLeastPivot = 1e-10;  // below this a column is a sum of earlier ones but for noise

}  // namespace

bool is_positive_definite(BlockOfVectors& m) {
  const auto n = static_cast<std::size_t>(m.rows());
  BlockOfVectors known(static_cast<Index>(kBand), m.cols());
  for (std::size_t from = 0; from < n; from += kBand) {
    const std::size_t to = std::min(from + kBand, n);
    // What the rows above contribute to this band.
    loops().multiply({m.data() + from, 1, n}, m.data() + from, n, known.data(), n, to - from, from,
                     n - from);
    for (std::size_t i = from; i < to; ++i) {
      double* row = m.data() + i * n;
      const double* sum = known.data() + (i - from) * n;
      for (std::size_t j = i; j < n; ++j) row[j] -= sum[j - from];
      for (std::size_t k = from; k < i; ++k) {
        const double* above = m.data() + k * n;
        const double factor = above[i];
        for (std::size_t j = i; j < n; ++j) row[j] -= factor * above[j];
      }
      // Written so that NaN fails.
      if (!(row[i] > 0)) return false;
      const double inverse = 1 / std::sqrt(row[i]);
      for (std::size_t j = i; j < n; ++j) row[j] *= inverse;
    }
  }
  return true;
}

CholeskyInverse invert_cholesky_factor(BlockOfVectors& products) {
  BlockOfVectors& m = products;
  const Index n = m.rows();
  CholeskyInverse result = {n, 1};
  BlockOfVectors inverse = BlockOfVectors::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    const double whole = m(j, j);
    for (Index i = 0; i <= j; ++i) {
      double rest = m(i, j);
      for (Index k = 0; k < i; ++k) rest -= m(k, i) * m(k, j);
      m(i, j) = i < j ? rest / m(i, i) : rest;
    }
    // Written so that NaN fails.
    if (!(m(j, j) > kLeastPivot * whole)) return {j, 0};
    result.pivot = std::min(result.pivot, m(j, j) / whole);
    m(j, j) = std::sqrt(m(j, j));
    inverse(j, j) = 1 / m(j, j);
    for (Index i = 0; i < j; ++i) {
      double sum = 0;
      for (Index k = i; k < j; ++k) sum += inverse(i, k) * m(k, j);
      inverse(i, j) = -sum * inverse(j, j);
    }
  }
  m.swap(inverse);
  return result;
}

}  // namespace boba::algebra
