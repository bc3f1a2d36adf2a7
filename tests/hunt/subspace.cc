#include "tests/hunt/subspace.h"

#include <algorithm>
#include <utility>

namespace boba::hunt {
namespace {

constexpr double kLeastDirection = 1e-14;  // of the largest variance

}  // namespace

Subspace fit(const Products& products, const Set& set, std::size_t dimension) {
  const BigMatrix& k = products.k;
  const std::size_t s = set.size();
  std::vector<Big> mean(s);
  Big all = 0;
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t j = 0; j < s; ++j) mean[i] += k(set[i], set[j]);
    mean[i] /= static_cast<double>(s);
    all += mean[i];
  }
  all /= static_cast<double>(s);
  BigMatrix centred(s, s);
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t j = 0; j < s; ++j) centred(i, j) = k(set[i], set[j]) - mean[i] - mean[j] + all;
  }
  BigEigen values = eigen(centred);
  Subspace result;
  std::size_t rank = 0;
  const std::size_t most = std::min(dimension, s - 1);
  while (rank < most && values.values[rank] > values.values[0] * kLeastDirection) ++rank;
  for (std::size_t i = 0; i < s; ++i) {
    result.total += values.values[i];
    if (i >= rank) result.loss += values.values[i];
  }
  result.m.resize(k.rows);
  result.w = BigMatrix(k.rows, rank);
  for (std::size_t i = 0; i < s; ++i) result.m[set[i]] = Big(1) / static_cast<double>(s);
  for (std::size_t a = 0; a < rank; ++a) {
    Big middle = 0;
    for (std::size_t i = 0; i < s; ++i) middle += values.vectors(i, a);
    middle /= static_cast<double>(s);
    const Big root = root_of(values.values[a]);
    for (std::size_t i = 0; i < s; ++i) {
      result.w(set[i], a) = (values.vectors(i, a) - middle) / root;
    }
  }
  result.spectrum = std::move(values.values);
  return result;
}

Projected project(const Products& products, const Subspace& subspace, double least_square) {
  const BigMatrix& k = products.k;
  const std::size_t size = k.rows;
  const std::size_t rank = subspace.w.columns;
  std::vector<Big> km(size);
  Big mkm = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      if (subspace.m[j] != 0) km[i] += k(i, j) * subspace.m[j];
    }
  }
  for (std::size_t i = 0; i < size; ++i) mkm += subspace.m[i] * km[i];
  Projected result;
  result.x = BigMatrix(rank, size);
  result.residuals.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    Big square = k(i, i) - 2 * km[i] + mkm;
    const Big least = square * least_square;
    for (std::size_t a = 0; a < rank; ++a) {
      Big x = 0;
      for (std::size_t j = 0; j < size; ++j) {
        if (subspace.w(j, a) != 0) x += subspace.w(j, a) * (k(i, j) - km[j]);
      }
      result.x(a, i) = x;
      square -= x * x;
    }
    // A row on the subspace has a residual of 0, not of the last digits.
    result.residuals[i] = square > least ? square : Big(0);
  }
  return result;
}

Big middle_of(std::vector<Big> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace boba::hunt
