#include "boba/algebra/leading_eigen.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "boba/core/random.h"

namespace boba::algebra {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd normal_matrix(Index rows, Index columns, std::uint64_t seed) {
  MatrixXd m(rows, columns);
  for (Index i = 0; i < m.size(); ++i) {
    m.data()[i] = normal_at({.seed = seed}, static_cast<std::uint64_t>(i));
  }
  return m;
}

MatrixXd with_spectrum(const VectorXd& values, std::uint64_t seed) {
  const Index n = values.size();
  const MatrixXd q = Eigen::HouseholderQR<MatrixXd>(normal_matrix(n, n, seed)).householderQ();
  const MatrixXd m = q * values.asDiagonal() * q.transpose();
  return (m + m.transpose()) / 2;
}

// A strong part that falls and a bulk of noise.
VectorXd spectrum(Index n, Index strong, double first, double last, double noise) {
  VectorXd values(n);
  for (Index i = 0; i < n; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(std::max<Index>(strong, 1));
    values(i) = i < strong ? first * std::pow(last / first, place)
                           : noise * (1 - 0.9 * static_cast<double>(i) / static_cast<double>(n));
  }
  return values;
}

void expect_leading(const MatrixXd& m, Index count, const LeadingEigen& found) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(m);
  const VectorXd values = solver.eigenvalues().reverse();
  ASSERT_GE(found.values.size(), count);
  ASSERT_EQ(found.vectors.cols(), found.values.size());
  const double size = std::max(values(0), 1e-300);
  for (Index k = 0; k < count; ++k) {
    EXPECT_NEAR(found.values(k), values(k), 1e-13 * size) << k;
    const VectorXd v = found.vectors.col(k);
    EXPECT_LT((m * v - found.values(k) * v).stableNorm(), 1e-11 * found.values(k) + 1e-13 * size)
        << k;
  }
  const MatrixXd v = found.vectors.leftCols(count);
  EXPECT_LT((v.transpose() * v - MatrixXd::Identity(count, count)).norm(), 1e-13);
}

TEST(LeadingEigen, StandsAgainstADenseSolver) {
  for (const Index n : {1, 2, 10, 49, 60, 99, 150}) {
    for (const Index count : {1, 3, 9}) {
      if (count > n) continue;
      for (const double noise : {0.0, 1e-6, 0.1}) {
        const MatrixXd m = with_spectrum(spectrum(n, count, 50, 2, noise), 3);
        expect_leading(m, count, leading_eigen(m, count, MatrixXd(n, 0)));
        expect_leading(m, count, leading_eigen(m, count, normal_matrix(n, count, 8)));
      }
    }
  }
}

TEST(LeadingEigen, IteratesWhereItCan) {
  const MatrixXd m = with_spectrum(spectrum(300, 9, 50, 2, 0.1), 4);
  const LeadingEigen cold = leading_eigen(m, 9, MatrixXd(300, 0));
  EXPECT_FALSE(cold.dense);
  EXPECT_LT(cold.products, 30U);
  expect_leading(m, 9, cold);
  const LeadingEigen warm = leading_eigen(m, 9, cold.vectors);
  EXPECT_LT(warm.products, cold.products);
  expect_leading(m, 9, warm);
}

TEST(LeadingEigen, FallsBackWhereItCannot) {
  // No gap anywhere, six orders of magnitude between the values, and equal ones at the cut.
  VectorXd equal = spectrum(120, 9, 10, 5, 1);
  for (Index i = 6; i < 40; ++i) equal(i) = 4;
  for (const VectorXd& values :
       {VectorXd(VectorXd::LinSpaced(120, 1, 0)), spectrum(120, 9, 1, 1e-6, 1e-7), equal,
        spectrum(120, 4, 3, 1, 0), VectorXd(VectorXd::Constant(120, 2.0))}) {
    const MatrixXd m = with_spectrum(values, 5);
    expect_leading(m, 9, leading_eigen(m, 9, MatrixXd(120, 0)));
  }
}

TEST(LeadingEigen, TakesExtremeSizes) {
  for (const double scale : {0.0, 1e-310, 1e-100, 1e100, 1e300}) {
    const MatrixXd m = scale * with_spectrum(spectrum(80, 5, 4, 2, 0.1), 6);
    expect_leading(m, 5, leading_eigen(m, 5, MatrixXd(80, 0)));
  }
}

TEST(LeadingEigen, AStartOfNoUseDoesNoHarm) {
  const MatrixXd m = with_spectrum(spectrum(90, 6, 9, 3, 0.2), 7);
  const LeadingEigen good = leading_eigen(m, 6, MatrixXd(90, 0));
  MatrixXd away = good.vectors.rowwise().reverse();
  expect_leading(m, 6, leading_eigen(m, 6, MatrixXd::Zero(90, 6)));
  expect_leading(m, 6, leading_eigen(m, 6, MatrixXd::Ones(90, 6)));
  expect_leading(m, 6, leading_eigen(m, 6, away * 1e-200));
  expect_leading(m, 6, leading_eigen(m, 6, MatrixXd::Identity(90, 90)));
  // Some columns of use, the others nearly the same, of very different sizes.
  MatrixXd nearly = good.vectors;
  for (const double off : {0.0, 1e-14, 1e-9, 1e-4}) {
    for (Index k = 3; k < 6; ++k) {
      nearly.col(k) = 1e30 * (good.vectors.col(0) + off * normal_matrix(90, 1, 20));
    }
    expect_leading(m, 6, leading_eigen(m, 6, nearly));
  }
}

// A start that is invariant under the matrix converges at once, to what it spans.
TEST(LeadingEigen, AnInvariantStartMissesNoLargerValue) {
  const Index n = 100;
  const MatrixXd q = Eigen::HouseholderQR<MatrixXd>(normal_matrix(n, n, 12)).householderQ();
  for (const double rest : {0.0, 0.01, 0.5, 2.5, 2.99}) {
    for (const double missed : {20.0, 3.3, 3.001}) {
      VectorXd values = VectorXd::Constant(n, rest);
      values(0) = missed;
      values.segment(1, 7).setConstant(3);
      const MatrixXd full = q * values.asDiagonal() * q.transpose();
      const MatrixXd m = (full + full.transpose()) / 2;
      for (const Index count : {1, 6, 7}) {
        // Fewer columns than asked for, as many, and as many as the iteration has.
        for (const Index given : {count, count + 3, Index{5}}) {
          SCOPED_TRACE(testing::Message() << rest << " " << missed << " " << count << " " << given);
          expect_leading(m, count, leading_eigen(m, count, q.middleCols(1, given)));
        }
      }
    }
  }
}

TEST(LeadingEigen, EqualInputGivesEqualBits) {
  const MatrixXd m = with_spectrum(spectrum(200, 9, 50, 2, 0.5), 9);
  const LeadingEigen a = leading_eigen(m, 9, MatrixXd(200, 0));
  const LeadingEigen b = leading_eigen(m, 9, MatrixXd(200, 0));
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.vectors, b.vectors);
}

}  // namespace
}  // namespace boba::algebra
