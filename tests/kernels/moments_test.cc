#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"
#include "tests/support/kernels_tolerance.h"

namespace boba::testing {
namespace {

template <class T>
class MomentsTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MomentsTest, Types);

template <class T>
OutputPass moments(const Backend& backend, const Rows<T>& rows, double mean_factor,
                   double deviation_factor, std::vector<T>& out) {
  return backend.kernels->moments(rows.view(), mean_factor, deviation_factor, std::span<T>(out));
}

// Two values a and b at equal shares have mean (a + b) / 2; four such rows have deviation
// |a - b| / sqrt(3).
TYPED_TEST(MomentsTest, KnownMeanAndDeviation) {
  using T = TypeParam;
  for (const std::size_t d : {0, 1, 7, 8, 9, 17, 511, 512, 513, 1030}) {
    Rows<T> rows(4, d);
    for (std::size_t k = 0; k < d; ++k) {
      const auto x = static_cast<T>(k % 13);
      for (std::size_t i = 0; i < 4; ++i) rows[i][k] = i % 2 == 0 ? x - 3 : x + 3;
    }
    const Rows<T> before = rows;
    for (const Backend& backend : backends()) {
      std::vector<T> out(d);
      const OutputPass pass = moments(backend, rows, 2, -1, out);
      EXPECT_TRUE(pass.finite);
      EXPECT_EQ(pass.scan.size(), 4);
      for (std::size_t k = 0; k < d; ++k) {
        const double expected = 2 * static_cast<double>(k % 13) - std::sqrt(12.0);
        EXPECT_NEAR(static_cast<double>(out[k]), expected, output_tolerance<T>(4, 20, expected))
            << backend.name << " d=" << d;
      }
      moments(backend, rows, 1, 0, out);
      for (std::size_t k = 0; k < d; ++k) EXPECT_EQ(out[k], static_cast<T>(k % 13));
    }
    EXPECT_TRUE(rows.same_as(before));
  }
}

TYPED_TEST(MomentsTest, SingleRowHasNoDeviation) {
  using T = TypeParam;
  const Rows<T> rows = integer_rows<T>(1, 37);
  for (const Backend& backend : backends()) {
    std::vector<T> out(37);
    moments(backend, rows, 1, 5, out);
    for (std::size_t k = 0; k < 37; ++k) EXPECT_EQ(out[k], rows[0][k]) << backend.name;
  }
}

// The spread is 1e-6 of the mean: a difference of sums of squares would have no digit right.
TYPED_TEST(MomentsTest, DeviationBesideALargeMean) {
  using T = TypeParam;
  const std::size_t n = 15, d = 100;
  Rows<T> rows = integer_rows<T>(n, d);
  for (std::size_t i = 0; i < n; ++i) {
    for (T& x : rows[i]) x += 1 << 23;
  }
  for (const Backend& backend : backends()) {
    std::vector<T> out(d);
    moments(backend, rows, 0, 1, out);
    for (std::size_t k = 0; k < d; ++k) {
      double mean = 0, squares = 0;
      for (std::size_t i = 0; i < n; ++i) mean += static_cast<double>(rows[i][k]) / n;
      for (std::size_t i = 0; i < n; ++i) {
        squares +=
            (static_cast<double>(rows[i][k]) - mean) * (static_cast<double>(rows[i][k]) - mean);
      }
      const double expected = std::sqrt(squares / (n - 1));
      EXPECT_NEAR(static_cast<double>(out[k]), expected, output_tolerance<T>(n, 1 << 23, expected))
          << backend.name;
    }
  }
}

TYPED_TEST(MomentsTest, ScanNamesTheRowThatIsNotFinite) {
  using T = TypeParam;
  const std::size_t n = 6, d = 600;
  for (const T number : hostile_numbers<T>()) {
    for (const std::size_t place : interesting_places(d)) {
      Rows<T> rows = integer_rows<T>(n, d);
      rows[4][place] = number;
      for (const Backend& backend : backends()) {
        std::vector<T> out(d);
        const OutputPass pass = moments(backend, rows, 1, 0, out);
        EXPECT_EQ(pass.finite, std::isfinite(number)) << backend.name;
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_EQ(pass.scan[i].finite, i != 4 || std::isfinite(number)) << backend.name;
        }
      }
    }
  }
}

TYPED_TEST(MomentsTest, SameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  const std::size_t n = 6, d = 5000;
  const Rows<T> rows = normal_rows<T>(n, d);
  for (const SimdLevel level : supported_levels()) {
    std::vector<T> expected(d);
    cpu_kernels(level, 1)->moments(rows.view(), 1, -1.5, std::span<T>(expected));
    for (const int threads : {2, 3, 5}) {
      std::vector<T> out(d);
      cpu_kernels(level, threads)->moments(rows.view(), 1, -1.5, std::span<T>(out));
      EXPECT_TRUE(same_bits(out, expected));
    }
  }
}

}  // namespace
}  // namespace boba::testing
