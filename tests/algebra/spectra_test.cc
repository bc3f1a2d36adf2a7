// The eigensolvers on spectra that are hard for an iteration: the result is that of the spectrum
// which the matrix was made with, and the work stays within its bound.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "boba/algebra/block_lanczos.h"
#include "boba/algebra/blocks.h"
#include "boba/algebra/leading_eigen.h"
#include "boba/algebra/tridiagonal_eigen.h"
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

const MatrixXd& turned(Index n) {
  static std::vector<MatrixXd> known;
  for (const MatrixXd& q : known) {
    if (q.rows() == n) return q;
  }
  known.emplace_back(Eigen::HouseholderQR<MatrixXd>(normal_matrix(n, n, 3)).householderQ());
  return known.back();
}

MatrixXd with_spectrum(const VectorXd& values) {
  const MatrixXd& q = turned(values.size());
  const MatrixXd m = q * values.asDiagonal() * q.transpose();
  return (m + m.transpose()) / 2;
}

struct Spectrum {
  std::string name;
  std::function<double(Index, Index)> value;  // of place i among n
};

double uniform(Index i) { return uniform_at({.seed = 9}, static_cast<std::uint64_t>(i)); }

double part(Index i, Index n) { return static_cast<double>(i) / static_cast<double>(n); }

std::vector<Spectrum> spectra() {
  std::vector<Spectrum> all = {
      {"equal", [](Index, Index) { return 2.0; }},
      {"linear", [](Index i, Index n) { return 1 - part(i, n); }},
      {"edge of noise", [](Index i, Index n) { return 4 - std::pow(part(i, n), 2.0 / 3); }},
      {"pairs", [](Index i, Index) { return 100 - 0.01 * static_cast<double>(i / 2); }},
      {"ties at the cut",
       [](Index i, Index n) { return i < 6    ? 10.0
                                     : i < 40 ? 4.0
                                              : 1 - part(i, n); }},
      {"half tied at the cut",
       [](Index i, Index n) { return i < 6       ? 10.0
                                     : 2 * i < n ? 4.0
                                                 : 1 - part(i, n); }},
      {"rank 4", [](Index i, Index) { return i < 4 ? 3 - 0.1 * static_cast<double>(i) : 0; }},
      {"rank 4, equal", [](Index i, Index) { return i < 4 ? 3.0 : 0; }},
      {"rank 40, equal", [](Index i, Index) { return i < 40 ? 3.0 : 0; }},
      {"rank n / 2", [](Index i, Index n) { return 2 * i < n ? 3 - uniform(i) : 0; }},
      {"falling by 0.99", [](Index i, Index) { return std::pow(0.99, static_cast<double>(i)); }},
      {"falling by 0.1", [](Index i, Index) { return std::pow(0.1, static_cast<double>(i)); }},
      {"stairs", [](Index i, Index) { return std::pow(0.1, static_cast<double>(i / 5)); }},
      {"graded, tied at the cut",
       [](Index i, Index) { return i < 3    ? 1e6
                                   : i < 50 ? 1.0
                                            : 0.999 * uniform(i); }},
  };
  for (const double width : {1e-13, 1e-11, 1e-9, 1e-6, 1e-3}) {
    all.push_back({"clustered at the cut", [width](Index i, Index n) {
                     if (i < 6) return 10.0;
                     return 2 * i < n ? 4 * (1 - width * uniform(i)) : 1 - part(i, n);
                   }});
    all.push_back({"all clustered", [width](Index i, Index) { return 4 - width * uniform(i); }});
  }
  for (const double lead : {1e6, 1e10, 1e15}) {
    for (const Index leading : {1, 3, 8, 9}) {
      all.push_back({"graded", [lead, leading](Index i, Index n) {
                       return i < leading ? lead * (1 + part(i, n)) : 1 - part(i, n);
                     }});
    }
  }
  return all;
}

VectorXd falling(const Spectrum& spectrum, Index n) {
  VectorXd values(n);
  for (Index i = 0; i < n; ++i) values(i) = spectrum.value(i, n);
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

// Values within `tie` of the largest may stand for each other.
void expect_pairs(const MatrixXd& m, const VectorXd& wanted, const VectorXd& values,
                  const MatrixXd& vectors, Index count, double tie) {
  ASSERT_GE(values.size(), count);
  const MatrixXd v = vectors.leftCols(count);
  for (Index k = 0; k < count; ++k) {
    EXPECT_NEAR(values(k), wanted(k), tie * wanted(0)) << k;
    EXPECT_LE((m * v.col(k) - values(k) * v.col(k)).norm(),
              allowed_residual(values(k), values(0), m.rows()))
        << k;
  }
  EXPECT_LT((v.transpose() * v - MatrixXd::Identity(count, count)).norm(), 1e-13);
}

class EachSpectrum : public testing::TestWithParam<std::size_t> {};

TEST_P(EachSpectrum, LeadingValuesAreFound) {
  const Spectrum spectrum = spectra()[GetParam()];
  for (const Index n : {120, 500, 720}) {
    SCOPED_TRACE(testing::Message() << spectrum.name << ", " << n << " rows");
    const VectorXd values = falling(spectrum, n);
    const MatrixXd m = with_spectrum(values);
    const LeadingEigen found = leading_eigen(m, 9, MatrixXd(n, 0));
    expect_pairs(m, values, found.values, found.vectors, 9, 1e-11);
    EXPECT_FALSE(found.dense);
    // Eight filters of ten products, and a space of at most half the dimensions.
    EXPECT_LE(found.products, static_cast<std::size_t>(81 + n / 2 / 12 + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Spectra, EachSpectrum, testing::Range(std::size_t{0}, spectra().size()));

TEST(Spectra, AReductionFindsThemInAll) {
  for (const Index n : {1, 2, 3, 60, 200}) {
    for (const Spectrum& spectrum : spectra()) {
      SCOPED_TRACE(testing::Message() << spectrum.name << ", " << n << " rows");
      const VectorXd values = falling(spectrum, n);
      const MatrixXd m = with_spectrum(values);
      for (const Index count : {Index{1}, std::min<Index>(10, n), std::min<Index>(60, n)}) {
        const TridiagonalEigen found = tridiagonal_eigen(m, count);
        expect_pairs(m, values, found.values, found.vectors, count, 1e-13);
      }
    }
  }
  EXPECT_EQ(tridiagonal_eigen(MatrixXd::Zero(5, 5), 3).values, VectorXd::Zero(3));
}

// The spectrum of independent normal rows: block Lanczos resolves its edge in few products.
TEST(Spectra, IsotropicRowsNeedFewProducts) {
  for (const Index d : {10, 14, 60, 300, 2000}) {
    SCOPED_TRACE(d);
    const Index n = 600;
    const MatrixXd rows = normal_matrix(n, d, 11);
    const MatrixXd m = rows * rows.transpose();
    const MatrixXd symmetric = (m + m.transpose()) / 2;
    const LeadingEigen found = leading_eigen(symmetric, 9, MatrixXd(n, 0));
    EXPECT_FALSE(found.dense);
    EXPECT_LE(found.products, 100U);
    const VectorXd wanted = tridiagonal_eigen(symmetric, 9).values;
    expect_pairs(symmetric, wanted, found.values, found.vectors, 9, 1e-13);
  }
  const Index n = 1000;
  const MatrixXd rows = normal_matrix(n, 500, 12);
  const MatrixXd m = rows * rows.transpose();
  const LeadingEigen found = leading_eigen((m + m.transpose()) / 2, 9, MatrixXd(n, 0));
  EXPECT_FALSE(found.dense);
  EXPECT_FALSE(found.reduced);
  EXPECT_LE(found.products, 60U);
}

TEST(Spectra, AnInvariantStartMissesNoLargerValueOfALargeMatrix) {
  const Index n = 720;
  for (const double rest : {0.01, 2.5, 2.99}) {
    for (const double missed : {20.0, 3.3, 3.001}) {
      SCOPED_TRACE(testing::Message() << rest << " " << missed);
      VectorXd values = VectorXd::Constant(n, rest);
      values(0) = missed;
      values.segment(1, 9).setConstant(3);
      const MatrixXd m = with_spectrum(values);
      const LeadingEigen found = leading_eigen(m, 9, turned(n).middleCols(1, 9));
      expect_pairs(m, values, found.values, found.vectors, 9, 1e-12);
    }
  }
}

TEST(Spectra, ALargerValueBesideTheKnownIsSeen) {
  const Index n = 300;
  VectorXd values = VectorXd::LinSpaced(n, 1, 0);
  values(0) = 9;
  values(1) = 5;
  values(2) = 4;
  const MatrixXd m = with_spectrum(values);
  const BlockOfVectors first = turned(n).leftCols(1);
  EXPECT_EQ(any_value_above(m, 4.999, first, 9), true);
  EXPECT_EQ(any_value_above(m, 5.001, first, 9), false);
  const BlockOfVectors three = turned(n).leftCols(3);
  EXPECT_EQ(any_value_above(m, 4, three, 9), false);
  EXPECT_EQ(any_value_above(m, 0.5, three, 9), true);
}

TEST(Spectra, EqualInputGivesEqualBits) {
  for (const VectorXd& values : {VectorXd(VectorXd::LinSpaced(500, 1, 0)),
                                 falling(spectra()[4], 500), falling(spectra()[5], 500)}) {
    const MatrixXd made = with_spectrum(values);
    const LeadingEigen a = leading_eigen(made, 9, MatrixXd(500, 0));
    const LeadingEigen b = leading_eigen(made, 9, MatrixXd(500, 0));
    EXPECT_EQ(a.values, b.values);
    EXPECT_EQ(a.vectors, b.vectors);
  }
}

}  // namespace
}  // namespace boba::algebra
