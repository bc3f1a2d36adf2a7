// What the Gram pass promises beyond rounding bounds: small distances beside a large common part,
// and updates of any size.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"

namespace boba::testing {
namespace {

double sq_distance(const GramPass& pass, std::size_t n, std::size_t i, std::size_t j) {
  return pass.centred[i * n + i] + pass.centred[j * n + j] - 2 * pass.centred[i * n + j];
}

double plain_sq_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double x = static_cast<double>(a[k]) - static_cast<double>(b[k]);
    sum += x * x;
  }
  return sum;
}

void expect_distances(const Rows<float>& rows, std::span<const double> origin, double tolerance) {
  const std::size_t n = rows.rows();
  for (const Backend& backend : backends()) {
    const GramPass pass = backend.kernels->gram(rows.view(), origin);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double expected = plain_sq_distance(rows[i], rows[j]);
        EXPECT_NEAR(sq_distance(pass, n, i, j) / expected, 1, tolerance)
            << backend.name << ' ' << i << ' ' << j;
      }
    }
  }
}

// The rounding errors of blocks are independent, and d = 20,000 is 40 blocks.
TEST(GramNumerics, CommonPartHundredTimesTheSpread) {
  const Rows<float> rows = normal_rows<float>(6, 20000, 1e-3, 100);
  const std::vector<double> mean(6, 1.0 / 6);
  expect_distances(rows, mean, 5e-7);
  expect_distances(rows, std::vector<double>{0, 0, 0, 0, 0.5, 0.5}, 1e-6);
}

TEST(GramNumerics, CommonPartManyTimesTheSpread) {
  for (const double times : {1e4, 1e5, 1e6}) {
    const Rows<float> rows = normal_rows<float>(6, 20000, 1e-3, times);
    expect_distances(rows, std::vector<double>(6, 1.0 / 6), 1e-6);
  }
}

TEST(GramNumerics, TinyAndLargeUpdates) {
  for (const double size : {1e-21, 1e-30, 1e18, 1e30}) {
    expect_distances(normal_rows<float>(4, 3000, size), {}, 1e-6);
    expect_distances(normal_rows<float>(4, 3000, size, 100), std::vector<double>(4, 0.25), 1e-6);
  }
}

// One pass holds rows of very different sizes: each has a scale of its own.
TEST(GramNumerics, SizesMayDifferFromRowToRow) {
  const std::size_t d = 2000;
  Rows<float> rows = normal_rows<float>(3, d);
  for (float& x : rows[0]) x *= 1e-21F;
  for (float& x : rows[2]) x *= 1e18F;
  for (const Backend& backend : backends()) {
    const GramPass pass = backend.kernels->gram(rows.view(), {});
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        double expected = 0;
        double size = 0;
        for (std::size_t k = 0; k < d; ++k) {
          const double x = static_cast<double>(rows[i][k]) * static_cast<double>(rows[j][k]);
          expected += x;
          size += std::abs(x);
        }
        EXPECT_NEAR(pass.centred[i * 3 + j] / size, expected / size, 1e-6) << backend.name;
      }
    }
  }
}

TEST(GramNumerics, DoubleRowsKeepDoublePrecision) {
  const Rows<double> rows = normal_rows<double>(3, 5000, 1e-3, 100);
  for (const Backend& backend : backends()) {
    const GramPass pass = backend.kernels->gram(rows.view(), std::vector<double>{0, 0, 1});
    double expected = 0;
    for (std::size_t k = 0; k < 5000; ++k) {
      expected += (rows[0][k] - rows[1][k]) * (rows[0][k] - rows[1][k]);
    }
    EXPECT_NEAR(sq_distance(pass, 3, 0, 1) / expected, 1, 1e-13) << backend.name;
  }
}

}  // namespace
}  // namespace boba::testing
