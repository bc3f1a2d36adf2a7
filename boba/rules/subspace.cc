#include "boba/rules/subspace.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "boba/rules/eigen_leading.h"
#include "boba/rules/eigen_top.h"
#include "boba/rules/select.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Rounding of a dense symmetric eigensolver of this size, relative to the largest eigenvalue.
constexpr double kSolverRounding = 1e-14;
// Residual of a value that only reports show; the value's own error is its square.
constexpr double kRough = 1e-3;

Eigen::Map<const MatrixXd> matrix(const Gram& gram) {
  const auto size = static_cast<Index>(gram.size());
  return {gram.centred().data(), size, size};
}

// Products of the set's rows about their mean.
MatrixXd centred_products(const Gram& gram, std::span<const std::size_t> set) {
  const auto s = static_cast<Index>(set.size());
  MatrixXd k(s, s);
  for (Index j = 0; j < s; ++j) {
    for (Index i = 0; i < s; ++i) k(i, j) = gram.centred(set[i], set[j]);
  }
  const VectorXd mean = k.rowwise().mean();
  k.colwise() -= mean;
  k.rowwise() -= mean.transpose();
  k.array() += mean.mean();
  return k;
}

}  // namespace

Subspace fit_subspace(const Gram& gram, std::span<const std::size_t> set, std::size_t dimension,
                      const MatrixXd* guess) {
  assert(!set.empty());
  const auto s = static_cast<Index>(set.size());
  const auto size = static_cast<Index>(gram.size());
  // A centred set of s rows has at most s - 1 directions.
  const std::size_t most = std::min<std::size_t>(dimension, set.size() - 1);
  MatrixXd start(s, guess == nullptr ? 0 : guess->rows());
  for (Index i = 0; guess != nullptr && i < s; ++i) {
    start.row(i) = guess->col(static_cast<Index>(set[i])).transpose();
  }
  const MatrixXd products = centred_products(gram, set);
  const auto asked = static_cast<Index>(std::max<std::size_t>(most, 1));
  const LeadingEigen leading = leading_eigen(products, asked, start);

  Subspace fit;
  fit.rows = set.size();
  fit.m = VectorXd::Zero(size);
  for (std::size_t row : set) fit.m(static_cast<Index>(row)) = 1.0 / static_cast<double>(s);
  for (double value : leading.values) fit.spectrum.push_back(std::max(0.0, value));
  const double least = fit.spectrum[0] * std::max(gram.rounding(), kSolverRounding);
  std::size_t rank = 0;
  while (rank < most && fit.spectrum[rank] > least) ++rank;
  const auto split = fit.spectrum.begin() + static_cast<std::ptrdiff_t>(rank);
  const double kept = std::accumulate(fit.spectrum.begin(), split, 0.0);
  if (leading.dense) {
    fit.loss = std::accumulate(split, fit.spectrum.end(), 0.0);
    fit.total = kept + fit.loss;
  } else {
    fit.total = products.trace();
    fit.loss = std::max(0.0, fit.total - kept);
  }

  fit.w = MatrixXd::Zero(size, static_cast<Index>(rank));
  for (Index k = 0; k < static_cast<Index>(rank); ++k) {
    VectorXd v = leading.vectors.col(k);
    v.array() -= v.mean();
    v /= std::sqrt(fit.spectrum[static_cast<std::size_t>(k)]);
    for (Index i = 0; i < s; ++i) fit.w(static_cast<Index>(set[i]), k) = v(i);
  }
  return fit;
}

double next_value(const Gram& gram, std::span<const std::size_t> set, const Subspace& subspace) {
  if (subspace.rank() < subspace.spectrum.size()) return subspace.spectrum[subspace.rank()];
  if (subspace.rows == subspace.spectrum.size()) return 0;
  MatrixXd rest = centred_products(gram, set);
  const auto s = static_cast<Index>(set.size());
  for (Index k = 0; k < subspace.w.cols(); ++k) {
    VectorXd v(s);
    for (Index i = 0; i < s; ++i) v(i) = subspace.w(static_cast<Index>(set[i]), k);
    // The columns of w have the length 1 / singular value: value * v v' is value^2 * w w'.
    const double value = subspace.spectrum[static_cast<std::size_t>(k)];
    rest.noalias() -= value * value * v * v.transpose();
  }
  const TopEigen top = top_eigen({rest.data(), set.size() * set.size()}, set.size(), kRough);
  return std::max(0.0, top.value);
}

Projection project(const Gram& gram, const Subspace& subspace) {
  const auto k = matrix(gram);
  const VectorXd km = k * subspace.m;
  const double mkm = subspace.m.dot(km);
  Projection result;
  result.x = subspace.w.transpose() * k;
  const VectorXd offset = subspace.w.transpose() * km;
  result.x.colwise() -= offset;
  result.sq_residual.resize(gram.size());
  for (std::size_t i = 0; i < gram.size(); ++i) {
    const auto at = static_cast<Index>(i);
    const double from_point = k(at, at) - 2 * km(at) + mkm;
    // Rounding can cross zero for rows on the subspace.
    result.sq_residual[i] = std::max(0.0, from_point - result.x.col(at).squaredNorm());
  }
  return result;
}

std::vector<std::size_t> smallest(std::span<const double> values, std::size_t count) {
  const std::vector<bool> chosen = choose(values, count, Best::kSmallest);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) rows.push_back(i);
  }
  return rows;
}

}  // namespace boba
