// The Gram pass on every backend against double arithmetic: errors relative to the rows' norms, any
// number of rows, numbers of any size side by side.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "boba/core/views.h"
#include "boba/kernels/cuda/cuda.h"
#include "boba/kernels/reference/reference.h"
#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"

namespace boba::testing {
namespace {

struct Errors {
  double largest = 0;   // of a product, relative to the two norms
  double diagonal = 0;  // mean of the squared norms', with sign
};

Errors errors_of(const GramPass& pass, const GramPass& exact, std::size_t n) {
  Errors errors;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double size = std::sqrt(exact.centred[i * n + i] * exact.centred[j * n + j]);
      if (size == 0) continue;
      const double error = (pass.centred[i * n + j] - exact.centred[i * n + j]) / size;
      errors.largest = std::max(errors.largest, std::abs(error));
      if (i == j) errors.diagonal += error / static_cast<double>(n);
    }
  }
  return errors;
}

// About the origin as the passes round it.
GramPass exact_pass(const UpdateView& rows, std::span<const double> origin) {
  return make_reference_kernels()->gram(rows, origin, Precision::kDouble);
}

std::vector<double> mean_of_last(std::size_t n, std::size_t count) {
  std::vector<double> origin(n, 0.0);
  for (std::size_t i = n - count; i < n; ++i) origin[i] = 1.0 / static_cast<double>(count);
  return origin;
}

void expect_small_errors(const Rows<float>& rows, std::span<const double> origin, double largest,
                         double diagonal) {
  const GramPass exact = exact_pass(rows.view(), origin);
  for (const Backend& backend : backends()) {
    const GramPass pass = backend.kernels->gram(rows.view(), origin);
    const Errors errors = errors_of(pass, exact, rows.rows());
    EXPECT_LE(errors.largest, largest) << backend.name;
    EXPECT_LE(std::abs(errors.diagonal), diagonal) << backend.name;
    if (origin.empty()) continue;
    EXPECT_NEAR(pass.origin_sq / exact.origin_sq, 1, largest) << backend.name;
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const double size = std::sqrt(exact.origin_sq * exact.centred[i * rows.rows() + i]);
      EXPECT_NEAR(pass.origin_dot[i], exact.origin_dot[i], largest * size) << backend.name;
    }
  }
}

// Rounding errors cancel: a hundredth of what 20,000 of them could add up to, and sums that round
// in one direction would show on the diagonal.
TEST(GramError, RelativeToNorms) {
  for (const double common : {0.0, 100.0, 10000.0}) {
    const Rows<float> rows = normal_rows<float>(12, 20000, 1e-3, common);
    expect_small_errors(rows, mean_of_last(12, 3), 3e-7, 1.5e-7);
    std::vector<double> one(12, 0.0);
    one[5] = 1;
    expect_small_errors(rows, one, 3e-7, 1.5e-7);
  }
  expect_small_errors(normal_rows<float>(12, 20000, 1e-3), {}, 3e-7, 1.5e-7);
}

TEST(GramError, AnySize) {
  for (const double size : {1e-42, 1e-38, 1e-30, 1e-20, 1e20, 1e30, 1e37}) {
    const Rows<float> rows = normal_rows<float>(5, 9000, size, size > 1e36 ? 0 : 3);
    expect_small_errors(rows, {}, 2e-6, 2e-6);
    expect_small_errors(rows, mean_of_last(5, 2), 2e-6, 2e-6);
  }
}

// Around blocks of 128 rows, with the origin a row more.
TEST(GramError, AnyNumberOfRows) {
  for (const std::size_t n : {1U, 2U, 127U, 128U, 129U, 300U}) {
    const std::size_t d = n < 200 ? 8257 : 8192;
    const Rows<float> rows = integer_rows<float>(n, d);
    std::vector<double> origin(n, 0.0);
    origin[n / 2] = 1;
    for (const std::span<const double> about :
         {std::span<const double>(), std::span<const double>(origin)}) {
      const GramPass exact = exact_pass(rows.view(), about);
      for (const Backend& backend : backends()) {
        const GramPass pass = backend.kernels->gram(rows.view(), about);
        EXPECT_EQ(pass.centred, exact.centred) << backend.name << " n=" << n;
        EXPECT_EQ(pass.origin_dot, exact.origin_dot) << backend.name << " n=" << n;
        EXPECT_EQ(pass.origin_sq, exact.origin_sq);
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_EQ(pass.scan[i].max_abs, exact.scan[i].max_abs);
        }
      }
    }
  }
}

// A GPU takes another way from 8,192 columns on, 64 at a time.
TEST(GramError, OddLengths) {
  for (const std::size_t d : {1U, 3U, 65U, 8191U, 8192U, 8193U, 8255U, 8449U, 16961U}) {
    const Rows<float> rows = normal_rows<float>(4, d, 1.0, 1.0);
    expect_small_errors(rows, {}, 4e-7, 4e-7);
    std::vector<double> one(4, 0.0);
    one[3] = 1;
    expect_small_errors(rows, one, 4e-7, 4e-7);
  }
}

// Numbers that differ by many powers of two within a row, and blocks of nothing but tiny ones.
TEST(GramError, SpikesAndTinyBlocks) {
  const std::size_t n = 5;
  const std::size_t d = 9000;
  Rows<float> rows = normal_rows<float>(n, d);
  for (std::size_t k = 0; k < d; k += 77) rows[0][k] *= 1e5F;
  for (std::size_t k = 640; k < 1280; ++k) rows[1][k] *= 1e-42F;
  for (std::size_t k = 640; k < 1280; ++k) rows[2][k] = 0;
  for (std::size_t k = 0; k < d; ++k) rows[3][k] *= std::ldexp(1.0F, static_cast<int>(k % 40) - 20);
  rows[4][8999] = 1e30F;
  expect_small_errors(rows, {}, 1e-6, 1e-6);
  expect_small_errors(rows, std::vector<double>{0, 1, 0, 0, 0}, 1e-6, 1e-6);
  expect_small_errors(rows, std::vector<double>{0, 0, 0.5, 0.5, 0}, 1e-6, 1e-6);
}

// Differences that float cannot hold.
TEST(GramError, LargestDifferences) {
  Rows<float> rows = normal_rows<float>(4, 8700);
  const float most = std::numeric_limits<float>::max();
  for (std::size_t k = 0; k < 8700; k += 3) rows[0][k] = most;
  for (std::size_t k = 0; k < 8700; k += 2) rows[1][k] = -most;
  for (const std::vector<double>& origin :
       {std::vector<double>{0, 1, 0, 0}, std::vector<double>{1, 0, 0, 0},
        std::vector<double>{0, 0, 1, 0}}) {
    expect_small_errors(rows, origin, 4e-7, 4e-7);
  }
}

// Rows that differ from the origin by less than float's normal numbers.
TEST(GramError, TinyDifferences) {
  Rows<float> rows(3, 8500);
  for (std::size_t k = 0; k < 8500; ++k) {
    const float common = k % 5 == 0 ? 1.0F : 0.0F;
    for (std::size_t i = 0; i < 3; ++i) rows[i][k] = common;
    rows[1][k] += k % 5 == 1 ? 3e-45F : 0.0F;
    rows[2][k] += k % 5 == 1 ? -7e-45F : 0.0F;
  }
  expect_small_errors(rows, std::vector<double>{1, 0, 0}, 1e-7, 1e-7);
}

// By no bit, whatever it is that another row holds.
TEST(GramError, OtherRowsKeepTheirBits) {
  const std::size_t n = 9;
  const std::size_t d = 8500;
  const std::size_t bad = 4;
  const Rows<float> honest = normal_rows<float>(n, d);
  const std::vector<double> weights = mean_of_last(n, 2);
  for (const Backend& backend : backends()) {
    for (const std::span<const double> origin :
         {std::span<const double>(), std::span<const double>(weights)}) {
      const GramPass expected = backend.kernels->gram(honest.view(), origin);
      for (const float number : hostile_numbers<float>()) {
        Rows<float> rows = honest;
        rows[bad][77] = number;
        rows[bad][d - 1] = number;
        const GramPass pass = backend.kernels->gram(rows.view(), origin);
        EXPECT_EQ(pass.scan[bad].finite, std::isfinite(number)) << backend.name;
        EXPECT_EQ(pass.origin_sq, expected.origin_sq);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            const double value = pass.centred[i * n + j];
            if (i != bad && j != bad) {
              EXPECT_EQ(value, expected.centred[i * n + j]) << backend.name;
            } else if (!std::isfinite(number)) {
              EXPECT_EQ(value, 0) << backend.name;
            }
          }
        }
      }
    }
  }
}

// Rows at addresses that are not multiples of sixteen, which copies to a GPU never are.
TEST(GramError, UnalignedRowsOnTheGpu) {
  const auto made = make_cuda_kernels();
  if (!made) GTEST_SKIP() << "no GPU";
  const Kernels& gpu = **made;
  const std::size_t n = 131;
  const std::size_t d = 8503;
  const Rows<float> rows = normal_rows<float>(n, d);
  UpdateMatrix matrix = gpu.make_rows(DType::kFloat32, n, d);
  for (std::size_t i = 0; i < n; ++i) gpu.put(rows.view(), i, matrix.row(i));
  const std::vector<double> origin = mean_of_last(n, 4);
  for (const std::size_t first : {0U, 1U, 2U, 3U}) {
    const RowList there = RowList(matrix.view()).columns(first, 8400);
    const RowList here = RowList(rows.view()).columns(first, 8400);
    for (const std::span<const double> about :
         {std::span<const double>(), std::span<const double>(origin)}) {
      const GramPass exact = exact_pass(here.view(), about);
      const GramPass pass = gpu.gram(there.view(), about);
      EXPECT_LE(errors_of(pass, exact, n).largest, 2e-7) << first;
      EXPECT_EQ(pass.centred, gpu.gram(there.view(), about).centred) << "the same call again";
    }
  }
}

}  // namespace
}  // namespace boba::testing
