#include "boba/rules/subspace.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "boba/rules/select.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Rounding of a dense symmetric eigensolver of this size, relative to the largest eigenvalue.
constexpr double kSolverRounding = 1e-14;

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

Subspace fit_subspace(const Gram& gram, std::span<const std::size_t> set, std::size_t dimension) {
  assert(!set.empty());
  const auto s = static_cast<Index>(set.size());
  const auto size = static_cast<Index>(gram.size());
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(centred_products(gram, set));

  Subspace fit;
  fit.m = VectorXd::Zero(size);
  for (std::size_t row : set) fit.m(static_cast<Index>(row)) = 1.0 / static_cast<double>(s);
  // Eigenvalues come rising; a centred set of s rows has at most s - 1 directions.
  for (Index i = s; i-- > 0;) fit.spectrum.push_back(std::max(0.0, solver.eigenvalues()(i)));
  const double least = fit.spectrum[0] * std::max(gram.rounding(), kSolverRounding);
  const std::size_t most = std::min<std::size_t>(dimension, set.size() - 1);
  std::size_t rank = 0;
  while (rank < most && fit.spectrum[rank] > least) ++rank;
  fit.loss = std::accumulate(fit.spectrum.begin() + static_cast<std::ptrdiff_t>(rank),
                             fit.spectrum.end(), 0.0);

  fit.w = MatrixXd::Zero(size, static_cast<Index>(rank));
  for (Index k = 0; k < static_cast<Index>(rank); ++k) {
    VectorXd v = solver.eigenvectors().col(s - 1 - k);
    v.array() -= v.mean();
    v /= std::sqrt(fit.spectrum[static_cast<std::size_t>(k)]);
    for (Index i = 0; i < s; ++i) fit.w(static_cast<Index>(set[i]), k) = v(i);
  }
  return fit;
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
