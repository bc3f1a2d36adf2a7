#include "boba/rules/subspace.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "boba/algebra/leading_eigen.h"
#include "boba/algebra/loops.h"
#include "boba/algebra/top_eigen.h"
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

// Products of the set's rows about their mean, symmetric to the last bit, in the memory of k if it
// is large enough.
MatrixXd centred_products(const Gram& gram, std::span<const std::size_t> set, MatrixXd k) {
  const std::size_t s = set.size();
  const std::size_t size = gram.size();
  k.resize(static_cast<Index>(s), static_cast<Index>(s));
  VectorXd mean(static_cast<Index>(s));
  // Most sets are a few runs of consecutive rows, and a run is copied faster than row by row.
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= s; ++i) {
    if (i == s || set[i] != set[i - 1] + 1) ends.push_back(i);
  }
  for (std::size_t j = 0; j < s; ++j) {
    const double* from = gram.centred().data() + set[j] * size;
    double* to = k.data() + j * s;
    std::size_t begin = 0;
    for (std::size_t end : ends) {
      std::copy_n(from + set[begin], end - begin, to + begin);
      begin = end;
    }
    mean(static_cast<Index>(j)) = k.col(static_cast<Index>(j)).mean();
  }
  const double all = mean.mean();
  for (Index j = 0; j < k.cols(); ++j) {
    k.col(j).array() = (k.col(j).array() - (mean.array() + mean(j))) + all;
  }
  return k;
}

}  // namespace

Subspace fit_subspace(const Gram& gram, std::span<const std::size_t> set, std::size_t dimension,
                      const MatrixXd* guess, MatrixXd memory) {
  assert(!set.empty());
  const auto s = static_cast<Index>(set.size());
  const auto size = static_cast<Index>(gram.size());
  // A centred set of s rows has at most s - 1 directions.
  const std::size_t most = std::min<std::size_t>(dimension, set.size() - 1);
  MatrixXd start(s, guess == nullptr ? 0 : guess->rows());
  for (Index i = 0; guess != nullptr && i < s; ++i) {
    start.row(i) = guess->col(static_cast<Index>(set[i])).transpose();
  }
  MatrixXd products = centred_products(gram, set, std::move(memory));
  const auto asked = static_cast<Index>(std::max<std::size_t>(most, 1));
  const algebra::LeadingEigen leading = algebra::leading_eigen(products, asked, start);

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
  fit.products = std::move(products);
  return fit;
}

double left_out_value(std::span<const std::size_t> set, const Subspace& subspace) {
  if (subspace.rank() < subspace.spectrum.size()) return subspace.spectrum[subspace.rank()];
  if (subspace.rows == subspace.spectrum.size()) return 0;
  const std::size_t s = set.size();
  // The columns of w are eigenvectors over singular values.
  MatrixXd known(static_cast<Index>(s), subspace.w.cols());
  for (std::size_t i = 0; i < s; ++i) {
    known.row(static_cast<Index>(i)) = subspace.w.row(static_cast<Index>(set[i]));
  }
  for (Index k = 0; k < known.cols(); ++k) {
    known.col(k) *= std::sqrt(subspace.spectrum[static_cast<std::size_t>(k)]);
  }
  const algebra::TopEigen top =
      algebra::top_eigen({subspace.products.data(), s * s}, s, kRough,
                         {known.data(), static_cast<std::size_t>(known.size())});
  return std::max(0.0, top.value);
}

Projection project(const Gram& gram, const Subspace& subspace) {
  const std::size_t size = gram.size();
  const std::size_t rank = subspace.rank();
  const auto& table = algebra::loops();
  const double* k = gram.centred().data();
  // Rows outside the set have weight 0 in m and w. Those before and after it are skipped.
  const double* m = subspace.m.data();
  const auto fitted = [](double weight) { return weight != 0; };
  const auto first = static_cast<std::size_t>(std::find_if(m, m + size, fitted) - m);
  std::size_t end = size;
  while (m[end - 1] == 0) --end;
  VectorXd km(static_cast<Index>(size));
  table.apply(k + first, size, m + first, km.data(), size, end - first);
  const double mkm = subspace.m.dot(km);
  const VectorXd offset = subspace.w.transpose() * km;
  // Row i of K w is the i-th column of x.
  const MatrixXd across = subspace.w.transpose();
  Projection result;
  result.x.resize(static_cast<Index>(rank), static_cast<Index>(size));
  table.multiply({k + first, size, 1}, across.data() + first * rank, rank, result.x.data(), rank,
                 size, end - first, rank);
  result.x.colwise() -= offset;
  result.sq_residual.resize(size);
  result.lost.resize(size);
  const double rounding = 4 * std::max(gram.rounding(), kSolverRounding / 16);
  const double largest = rank > 0 ? subspace.spectrum[0] : 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto at = static_cast<Index>(i);
    const double from_point = gram.centred(i, i) - 2 * km(at) + mkm;
    // For a row on the subspace only rounding remains, which must not choose between such rows.
    const double residual = from_point - result.x.col(at).squaredNorm();
    double share = 0;
    for (std::size_t a = 0; a < rank; ++a) {
      const double x = result.x(static_cast<Index>(a), at);
      share += x * x / subspace.spectrum[a];
    }
    // The basis is off by the rounding of the largest value, most where the fitted rows are short.
    const double lost = rounding * (gram.centred(i, i) + mkm + std::min(1.0, share) * largest);
    result.sq_residual[i] = residual > lost ? residual : 0;
    result.lost[i] = lost;
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
