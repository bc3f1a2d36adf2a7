#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>

#include "boba/algebra/top_eigen.h"
#include "tests/support/rules_round.h"

namespace boba::algebra {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TopEigen solve(const MatrixXd& m) {
  const auto n = static_cast<std::size_t>(m.rows());
  return top_eigen({m.data(), n * n}, n);
}

// Q diag(values) Q' with a random orthogonal Q.
MatrixXd with_spectrum(const VectorXd& values, std::uint64_t seed) {
  const auto n = static_cast<std::size_t>(values.size());
  MatrixXd random(n, n);
  const test::Rows rows = test::random_rows(n, n, seed);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) random(i, j) = rows[i][j];
  }
  const MatrixXd q = Eigen::HouseholderQR<MatrixXd>(random).householderQ();
  const MatrixXd m = q * values.asDiagonal() * q.transpose();
  return (m + m.transpose()) / 2;
}

void expect_top(const MatrixXd& m, const VectorXd& values) {
  const TopEigen top = solve(m);
  const double most = values.maxCoeff();
  const double size = std::max(values.cwiseAbs().maxCoeff(), 1e-300);
  EXPECT_NEAR(top.value, most, 1e-11 * size);
  const Eigen::Map<const VectorXd> v(top.vector.data(), m.rows());
  EXPECT_NEAR(v.norm(), 1, 1e-12);
  EXPECT_LT((m * v - most * v).norm(), 1e-8 * size);
}

TEST(TopEigen, LeavesOutWhatIsKnown) {
  for (const double noise : {0.0, 1e-13, 0.3, 3.0}) {
    const std::size_t n = 60;
    VectorXd values = noise * VectorXd::LinSpaced(60, 1, 0.2);
    values.head(5) << 50, 20, 20, 7, 4;
    const MatrixXd m = with_spectrum(values, 11);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(m);
    const MatrixXd vectors = solver.eigenvectors().rowwise().reverse();
    for (const std::size_t known : {1, 5, 40, 59}) {
      for (const double tolerance : {1e-3, 1e-11}) {
        const TopEigen top =
            top_eigen({m.data(), n * n}, n, tolerance, {vectors.data(), known * n});
        const auto next = static_cast<Eigen::Index>(known);
        const double expected = solver.eigenvalues()(59 - next);
        EXPECT_NEAR(top.value, expected, tolerance * std::abs(expected) + 1e-12);
      }
    }
  }
}

TEST(TopEigen, OfSmallMatrices) {
  EXPECT_EQ(solve(MatrixXd::Constant(1, 1, 7)).value, 7);
  MatrixXd two(2, 2);
  two << 2, 1, 1, 2;
  const TopEigen top = solve(two);
  EXPECT_NEAR(top.value, 3, 1e-14);
  EXPECT_NEAR(std::abs(top.vector[0]), std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(top.vector[0], top.vector[1], 1e-12);
}

TEST(TopEigen, OfZeroAndOfTheIdentity) {
  const TopEigen zero = solve(MatrixXd::Zero(9, 9));
  EXPECT_EQ(zero.value, 0);
  EXPECT_EQ(zero.vector.size(), 9U);
  expect_top(MatrixXd::Identity(30, 30) * 4, VectorXd::Constant(30, 4));
}

TEST(TopEigen, WhateverTheSpectrum) {
  for (Eigen::Index n : {2, 3, 10, 40, 115}) {
    VectorXd values = VectorXd::LinSpaced(n, 0, 1);
    expect_top(with_spectrum(values, 1), values);
    expect_top(with_spectrum(values * 1e-30, 1), values * 1e-30);
    expect_top(with_spectrum(values * 1e40, 1), values * 1e40);
    values(0) = 1;  // a double top
    expect_top(with_spectrum(values, 2), values);
    values.head(n / 2).setOnes();  // half of all
    expect_top(with_spectrum(values, 3), values);
    values.setZero();
    values(n - 1) = 5;  // rank 1
    expect_top(with_spectrum(values, 4), values);
    values.setConstant(1);
    values(0) = 1 + 1e-7;  // hardly above the rest
    expect_top(with_spectrum(values, 5), values);
    values = VectorXd::LinSpaced(n, -3, -1);  // all negative
    expect_top(with_spectrum(values, 6), values);
    values = VectorXd::LinSpaced(n, 0, 1);
    values(0) = 1e12;  // one far above
    expect_top(with_spectrum(values, 7), values);
  }
}

TEST(TopEigen, OfBlocksThatDoNotMeet) {
  MatrixXd m = MatrixXd::Zero(20, 20);
  m.topLeftCorner(10, 10) = with_spectrum(VectorXd::LinSpaced(10, 0, 1), 1);
  m.bottomRightCorner(10, 10) = with_spectrum(VectorXd::LinSpaced(10, 0, 2), 2);
  VectorXd values(20);
  values << VectorXd::LinSpaced(10, 0, 1), VectorXd::LinSpaced(10, 0, 2);
  expect_top(m, values);
  m.setZero();
  m(13, 13) = 3;
  expect_top(m, m.diagonal());
}

TEST(TopEigen, IsTheSameEachTime) {
  const MatrixXd m = with_spectrum(VectorXd::LinSpaced(50, 0, 1), 8);
  EXPECT_EQ(solve(m).vector, solve(m).vector);
  EXPECT_FALSE(solve(m).dense);
}

}  // namespace
}  // namespace boba::algebra
