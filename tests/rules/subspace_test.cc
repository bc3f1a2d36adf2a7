// The fit, the projection and the label mixes of BOBA against dense algebra, beyond the size up to
// which the fit itself uses a dense solver.
#include "boba/rules/subspace.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <numeric>

#include "boba/algebra/dense.h"
#include "boba/core/random.h"
#include "boba/rules/label_mix.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Clients near the simplex of `servers` corners in d-space, some far off it, and the corners.
MatrixXd rows_of(Index clients, Index servers, double noise, std::uint64_t seed) {
  const Index d = 200;
  MatrixXd rows(clients + servers, d);
  std::uint64_t at = 0;
  const auto normal = [&] { return normal_at({.seed = seed}, at++); };
  for (Index z = 0; z < servers; ++z) {
    for (Index k = 0; k < d; ++k) rows(clients + z, k) = normal();
  }
  for (Index i = 0; i < clients; ++i) {
    rows.row(i) = 0.5 * (rows.row(clients + i % servers) + rows.row(clients + (i * i) % servers));
    const double size = i % 9 == 8 ? 5 : noise;
    for (Index k = 0; k < d; ++k) rows(i, k) += size * normal();
  }
  return rows;
}

Gram gram_of(const MatrixXd& rows, Index clients) {
  const MatrixXd k = rows * rows.transpose();
  GramPass pass;
  pass.centred.assign(k.data(), k.data() + k.size());
  pass.origin_dot.assign(static_cast<std::size_t>(rows.rows()), 0.0);
  return Gram(std::move(pass), static_cast<std::size_t>(clients), DType::kFloat64);
}

// All clients but the far ones, in stretches.
std::vector<std::size_t> near_ones(Index clients) {
  std::vector<std::size_t> set;
  for (Index i = 0; i < clients; ++i) {
    if (i % 9 != 8) set.push_back(static_cast<std::size_t>(i));
  }
  return set;
}

MatrixXd centred_rows(const MatrixXd& rows, const std::vector<std::size_t>& set) {
  MatrixXd some(static_cast<Index>(set.size()), rows.cols());
  for (std::size_t i = 0; i < set.size(); ++i) {
    some.row(static_cast<Index>(i)) = rows.row(static_cast<Index>(set[i]));
  }
  some.rowwise() -= some.colwise().mean().eval();
  return some;
}

class Fits : public testing::TestWithParam<double> {};

TEST_P(Fits, AreThoseOfDenseAlgebra) {
  const Index clients = 110;
  for (const Index servers : {1, 2, 3, 10}) {
    SCOPED_TRACE(servers);
    const MatrixXd rows = rows_of(clients, servers, GetParam(), 3);
    const Gram gram = gram_of(rows, clients);
    const std::vector<std::size_t> set = near_ones(clients);
    const auto dimension = static_cast<std::size_t>(servers - 1);
    const Subspace fit = fit_subspace(gram, set, dimension);
    const MatrixXd some = centred_rows(rows, set);
    const algebra::ThinSvd svd = algebra::thin_svd(some);
    const VectorXd squares = svd.values.array().square();
    ASSERT_EQ(fit.rank(), dimension);
    for (Index k = 0; k + 1 < servers; ++k) {
      EXPECT_NEAR(fit.spectrum[static_cast<std::size_t>(k)], squares(k), 1e-12 * squares(0));
    }
    EXPECT_NEAR(fit.loss, squares.tail(squares.size() - servers + 1).sum(), 1e-11 * squares.sum());
    EXPECT_NEAR(left_out_value(set, fit), squares(servers - 1), 1e-4 * squares(servers - 1));

    // Distances from the subspace, which no rotation of its basis changes.
    const Projection projection = project(gram, fit);
    const Subspace guided = fit_subspace(gram, set, dimension, &projection.x);
    const Projection again = project(gram, guided);
    VectorXd mean = VectorXd::Zero(rows.cols());
    for (std::size_t i : set) mean += rows.row(static_cast<Index>(i)).transpose();
    mean /= static_cast<double>(set.size());
    for (Index i = 0; i < rows.rows(); ++i) {
      VectorXd rest = rows.row(i).transpose() - mean;
      const double size = rest.squaredNorm();
      for (Index k = 0; k + 1 < servers; ++k) {
        rest -= svd.v.col(k) * svd.v.col(k).dot(rest);
      }
      const auto at = static_cast<std::size_t>(i);
      EXPECT_NEAR(projection.sq_residual[at], rest.squaredNorm(), 1e-9 * size) << i;
      EXPECT_NEAR(again.sq_residual[at], rest.squaredNorm(), 1e-9 * size) << i;
    }
  }
}

// A wide gap, a narrow one, and values that nearly touch.
INSTANTIATE_TEST_SUITE_P(Noise, Fits, testing::Values(0.01, 0.3, 0.8));

TEST(Fit, OfEqualRowsIsAPoint) {
  const Gram gram = gram_of(MatrixXd::Constant(80, 5, 3.0), 70);
  std::vector<std::size_t> set(60);
  std::iota(set.begin(), set.end(), std::size_t{4});
  const Subspace fit = fit_subspace(gram, set, 9);
  EXPECT_EQ(fit.rank(), 0U);
  EXPECT_EQ(left_out_value(set, fit), 0);
  const Projection projection = project(gram, fit);
  for (double residual : projection.sq_residual) EXPECT_EQ(residual, 0);
}

// Projections whose last columns are the corners, with the given singular values of their
// differences, as far as they go.
Projection corners_and_clients(const VectorXd& sizes, Index clients, Index classes) {
  Projection projection;
  projection.x.resize(sizes.size(), clients + classes);
  for (Index i = 0; i < projection.x.size(); ++i) {
    projection.x.data()[i] = normal_at({.seed = 5}, static_cast<std::uint64_t>(i));
  }
  for (Index k = 0; k < sizes.size(); ++k) projection.x.row(k).tail(classes) *= sizes(k);
  return projection;
}

TEST(LabelMixes, SolveForSharesThatSumToOne) {
  const Index clients = 30;
  // Regular, badly scaled, and one direction in which the corners do not differ at all.
  const std::vector<VectorXd> cases = {VectorXd::Ones(4), VectorXd{{1, 1, 1e-4, 1}},
                                       VectorXd{{1, 0, 1, 1}}, VectorXd::Ones(2),
                                       VectorXd::Ones(6)};
  for (const VectorXd& sizes : cases) {
    for (const Index classes : {2, 5}) {
      const Projection projection = corners_and_clients(sizes, clients, classes);
      const LabelMixes mixes = label_mixes(projection, static_cast<std::size_t>(clients));
      // The least-norm solution about equal shares, by the pseudo-inverse of the differences.
      const MatrixXd corners = projection.x.rightCols(classes);
      const VectorXd centre = corners.rowwise().mean();
      const MatrixXd differences = corners.colwise() - centre;
      const algebra::ThinSvd svd = algebra::thin_svd(differences);
      std::size_t used = 0;
      MatrixXd inverse = MatrixXd::Zero(classes, sizes.size());
      for (Index k = 0; k < svd.values.size(); ++k) {
        if (svd.values(k) < 1e-8) continue;
        inverse += svd.v.col(k) * svd.u.col(k).transpose() / svd.values(k);
        ++used;
      }
      EXPECT_EQ(mixes.used, used);
      for (Index i = 0; i < clients; ++i) {
        const VectorXd expected = inverse * (projection.x.col(i) - centre) +
                                  VectorXd::Constant(classes, 1.0 / static_cast<double>(classes));
        const VectorXd shares = mixes.shares.col(i);
        EXPECT_NEAR(shares.sum(), 1, 1e-10 * (1 + shares.norm()));
        EXPECT_LT((shares - expected).norm(), 1e-10 * (1 + expected.norm()));
      }
    }
  }
}

TEST(LabelMixes, OfOneClassSayNothing) {
  const LabelMixes mixes = label_mixes(corners_and_clients(VectorXd(0), 7, 1), 7);
  EXPECT_EQ(mixes.shares, MatrixXd::Ones(1, 7));
}

}  // namespace
}  // namespace boba
