#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"
#include "tests/support/kernels_tolerance.h"

namespace boba::testing {
namespace {

template <class T>
class CombineTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CombineTest, Types);

constexpr std::size_t kLengths[] = {0, 1, 3, 7, 8, 9, 15, 16, 17, 33, 1023, 1024, 1025, 3000};

template <class T>
OutputPass combine(const Backend& backend, const Rows<T>& rows, const std::vector<double>& weights,
                   double keep, std::vector<T>& out) {
  return backend.kernels->combine(rows.view(), weights, keep, MutableRow(std::span<T>(out)));
}

TYPED_TEST(CombineTest, IntegersAreExact) {
  using T = TypeParam;
  for (const std::size_t n : {0, 1, 3, 4, 5, 9}) {
    for (const std::size_t d : kLengths) {
      const Rows<T> rows = integer_rows<T>(n, d);
      const Rows<T> before = rows;
      std::vector<double> weights(n);
      for (std::size_t i = 0; i < n; ++i) weights[i] = static_cast<double>(i) - 1;
      for (const double keep : {0.0, 3.0}) {
        std::vector<T> expected(d);
        for (std::size_t k = 0; k < d; ++k) {
          double sum = keep * static_cast<double>(k % 11);
          for (std::size_t i = 0; i < n; ++i) sum += weights[i] * static_cast<double>(rows[i][k]);
          expected[k] = static_cast<T>(sum);
        }
        for (const Backend& backend : backends()) {
          std::vector<T> out(d);
          // keep = 0 does not read what was there.
          for (std::size_t k = 0; k < d; ++k) {
            out[k] = keep == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(k % 11);
          }
          const OutputPass pass = combine(backend, rows, weights, keep, out);
          EXPECT_EQ(out, expected) << backend.name << " n=" << n << " d=" << d;
          EXPECT_TRUE(pass.finite);
          EXPECT_EQ(pass.scan.size(), n);
        }
      }
      EXPECT_TRUE(rows.same_as(before));
    }
  }
}

TYPED_TEST(CombineTest, SumsInDouble) {
  using T = TypeParam;
  const std::size_t n = 13, d = 1100;
  const Rows<T> rows = normal_rows<T>(n, d, 1, 10);
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) weights[i] = std::sin(static_cast<double>(i) + 1);
  for (const Backend& backend : backends()) {
    std::vector<T> out(d, T{0.5});
    combine(backend, rows, weights, -0.3, out);
    for (std::size_t k = 0; k < d; ++k) {
      double sum = -0.15, size = 0.15;
      for (std::size_t i = 0; i < n; ++i) {
        const double term = weights[i] * static_cast<double>(rows[i][k]);
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(static_cast<double>(out[k]), sum, output_tolerance<T>(n, size, sum))
          << backend.name;
    }
  }
}

TYPED_TEST(CombineTest, RowsOfWeightZeroAreNotRead) {
  using T = TypeParam;
  const std::size_t n = 6, d = 100;
  Rows<T> rows = integer_rows<T>(n, d);
  for (const std::size_t i : {0, 3, 5}) {
    for (T& x : rows[i]) x = std::numeric_limits<T>::quiet_NaN();
  }
  for (const Backend& backend : backends()) {
    std::vector<T> out(d);
    const OutputPass pass = combine(backend, rows, {0, 1, 2, -0.0, 1, 0}, 0, out);
    EXPECT_TRUE(pass.finite) << backend.name;
    for (const RowScan& scan : pass.scan) EXPECT_TRUE(scan.finite);
    EXPECT_EQ(pass.scan[0].max_abs, 0);
    EXPECT_EQ(pass.scan[1].max_abs, 8);
    for (std::size_t k = 0; k < d; ++k) {
      EXPECT_EQ(out[k], rows[1][k] + 2 * rows[2][k] + rows[4][k]);
    }
  }
}

// Row pointers of weight 0 may even be null.
TEST(CombineFloat, NullRowsOfWeightZero) {
  const std::vector<float> one = {1, 2, 3};
  const float* const table[] = {nullptr, one.data()};
  const UpdateView rows(std::span<const float* const>(table), 3);
  for (const SimdLevel level : supported_levels()) {
    std::vector<float> out(3);
    cpu_kernels(level, 2)->combine(rows, std::vector<double>{0, 2}, 0,
                                   MutableRow(std::span<float>(out)));
    EXPECT_EQ(out, (std::vector<float>{2, 4, 6}));
  }
}

TYPED_TEST(CombineTest, ScanNamesTheRowThatIsNotFinite) {
  using T = TypeParam;
  const std::size_t n = 7, d = 1100;
  for (const Backend& backend : backends()) {
    for (const T number : hostile_numbers<T>()) {
      for (const std::size_t place : interesting_places(d)) {
        for (const std::size_t bad : {0, 5}) {
          Rows<T> rows(n, d);
          rows[bad][place] = number;
          std::vector<T> out(d);
          const OutputPass pass = combine(backend, rows, std::vector<double>(n, 0.125), 0, out);
          EXPECT_EQ(pass.finite, std::isfinite(number)) << backend.name << ' ' << place;
          for (std::size_t i = 0; i < n; ++i) {
            EXPECT_EQ(pass.scan[i].finite, i != bad || std::isfinite(number)) << backend.name;
          }
          EXPECT_EQ(pass.scan[bad].max_abs,
                    std::isfinite(number) ? std::abs(static_cast<double>(number)) : 0);
          for (std::size_t k = 0; k < d; ++k) {
            ASSERT_TRUE(k == place || out[k] == 0);
          }
        }
      }
    }
  }
}

TEST(CombineFloat, ReportsResultsTooLargeForTheType) {
  Rows<float> rows(2, 20);
  rows[0][17] = rows[1][17] = std::numeric_limits<float>::max();
  for (const Backend& backend : backends()) {
    std::vector<float> out(20);
    EXPECT_FALSE(combine(backend, rows, {1, 1}, 0, out).finite) << backend.name;
    // The sum may pass through what a float cannot hold.
    EXPECT_TRUE(combine(backend, rows, {2, -1.5}, 0, out).finite) << backend.name;
    EXPECT_EQ(out[17], 0.5F * std::numeric_limits<float>::max());
  }
}

TYPED_TEST(CombineTest, SameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  const std::size_t n = 6, d = 5000;
  const Rows<T> rows = normal_rows<T>(n, d);
  const std::vector<double> weights(n, 1.0 / 7);
  for (const SimdLevel level : supported_levels()) {
    std::vector<T> expected(d, T{1});
    cpu_kernels(level, 1)->combine(rows.view(), weights, 0.3, std::span<T>(expected));
    for (const int threads : {2, 3, 5}) {
      std::vector<T> out(d, T{1});
      cpu_kernels(level, threads)->combine(rows.view(), weights, 0.3, std::span<T>(out));
      EXPECT_TRUE(same_bits(out, expected));
    }
  }
}

}  // namespace
}  // namespace boba::testing
