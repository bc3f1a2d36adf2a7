#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "boba/kernels/reference/reference.h"
#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"
#include "tests/support/kernels_tolerance.h"

namespace boba::testing {
namespace {

template <class T>
class OrderMeanTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OrderMeanTest, Types);

template <class T>
std::vector<T> plain(const Rows<T>& rows, std::size_t first, std::size_t last) {
  std::vector<T> out;
  for (std::size_t k = 0; k < rows.length(); ++k) {
    std::vector<T> column;
    for (std::size_t i = 0; i < rows.rows(); ++i) column.push_back(rows[i][k]);
    std::sort(column.begin(), column.end());
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += static_cast<double>(column[i]);
    out.push_back(static_cast<T>(sum / static_cast<double>(last - first)));
  }
  return out;
}

struct Window {
  std::size_t first;
  std::size_t last;
};

// Median, all, a single end, trimmed, one side.
std::vector<Window> windows(std::size_t n) {
  std::vector<Window> all = {{(n - 1) / 2, n / 2 + 1}, {0, n}, {0, 1}, {n - 1, n}};
  if (n > 4) all.insert(all.end(), {{n / 5, n - n / 5}, {n / 3, n}, {0, n / 2}});
  return all;
}

// Sums of integers are exact whatever their order, so the network's own order does not show.
TYPED_TEST(OrderMeanTest, IntegersAreExactForEveryNumberOfRows) {
  using T = TypeParam;
  for (std::size_t n = 1; n <= 40; ++n) {
    const std::size_t d = 40 + n;
    const Rows<T> rows = integer_rows<T>(n, d);
    for (const auto [first, last] : windows(n)) {
      const std::vector<T> expected = plain(rows, first, last);
      for (const Backend& backend : backends()) {
        std::vector<T> out(d);
        const OutputPass pass =
            backend.kernels->order_mean(rows.view(), nullptr, first, last, std::span<T>(out));
        ASSERT_EQ(out, expected) << backend.name << " n=" << n << ' ' << first << ' ' << last;
        EXPECT_TRUE(pass.finite);
        EXPECT_EQ(pass.scan.size(), n);
      }
    }
  }
}

TYPED_TEST(OrderMeanTest, IntegersAreExactForManyRows) {
  using T = TypeParam;
  for (const std::size_t n : {63, 64, 65, 115, 128, 129, 300, 1023, 1024, 1025, 1500}) {
    const std::size_t d = n < 200 ? 150 : 35;
    const Rows<T> rows = integer_rows<T>(n, d);
    for (const auto [first, last] : {windows(n)[0], windows(n)[4]}) {
      const std::vector<T> expected = plain(rows, first, last);
      for (const Backend& backend : backends()) {
        std::vector<T> out(d);
        backend.kernels->order_mean(rows.view(), nullptr, first, last, std::span<T>(out));
        ASSERT_EQ(out, expected) << backend.name << " n=" << n << ' ' << first << ' ' << last;
      }
    }
  }
}

TYPED_TEST(OrderMeanTest, EveryLength) {
  using T = TypeParam;
  for (const std::size_t d :
       {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000}) {
    const Rows<T> rows = normal_rows<T>(6, d);
    const Rows<T> before = rows;
    // The even median: the mean of the two in the middle.
    const std::vector<T> expected = plain(rows, 2, 4);
    for (const Backend& backend : backends()) {
      std::vector<T> out(d);
      backend.kernels->order_mean(rows.view(), nullptr, 2, 4, std::span<T>(out));
      ASSERT_EQ(out, expected) << backend.name << " d=" << d;
    }
    EXPECT_TRUE(rows.same_as(before));
  }
}

TYPED_TEST(OrderMeanTest, TrimmedMeanAgreesWithReference) {
  using T = TypeParam;
  const std::size_t n = 23, d = 300;
  const Rows<T> rows = normal_rows<T>(n, d, 1, 10);
  const std::vector<T> expected = plain(rows, 4, 19);
  for (const Backend& backend : backends()) {
    std::vector<T> out(d);
    backend.kernels->order_mean(rows.view(), nullptr, 4, 19, std::span<T>(out));
    for (std::size_t k = 0; k < d; ++k) {
      const auto value = static_cast<double>(expected[k]);
      EXPECT_NEAR(static_cast<double>(out[k]), value,
                  output_tolerance<T>(n, std::abs(value) + 10, value));
    }
  }
}

TYPED_TEST(OrderMeanTest, MixedRows) {
  using T = TypeParam;
  const std::size_t n = 9, d = 333;
  Rows<T> rows = integer_rows<T>(n, d);
  for (T& x : rows[8]) x = std::numeric_limits<T>::quiet_NaN();  // in no mixed row
  Mix mix;
  Rows<T> mixed(5, d);
  for (std::size_t i = 0; i < 5; ++i) {
    const Mix::Term terms[] = {{i, 0.5}, {i + 1, 0.25}, {i + 2, 0.25}, {8, 0}};
    mix.add(terms);
    for (std::size_t k = 0; k < d; ++k) {
      mixed[i][k] = T{0.5} * rows[i][k] + T{0.25} * rows[i + 1][k] + T{0.25} * rows[i + 2][k];
    }
  }
  for (const auto [first, last] : windows(5)) {
    const std::vector<T> expected = plain(mixed, first, last);
    for (const Backend& backend : backends()) {
      std::vector<T> out(d);
      const OutputPass pass =
          backend.kernels->order_mean(rows.view(), &mix, first, last, std::span<T>(out));
      EXPECT_EQ(out, expected) << backend.name;
      ASSERT_EQ(pass.scan.size(), n);
      EXPECT_EQ(pass.scan[2].max_abs, 8);
      EXPECT_TRUE(pass.scan[8].finite);
    }
  }
}

TYPED_TEST(OrderMeanTest, ScanNamesTheRowThatIsNotFinite) {
  using T = TypeParam;
  const std::size_t n = 5, d = 300;
  const Rows<T> honest = normal_rows<T>(n, d);
  const auto reference = make_reference_kernels();
  for (const T number : hostile_numbers<T>()) {
    for (const std::size_t place : interesting_places(d)) {
      Rows<T> rows = honest;
      rows[3][place] = number;
      std::vector<T> expected(d);
      reference->order_mean(rows.view(), nullptr, 1, 4, std::span<T>(expected));
      for (const Backend& backend : backends()) {
        std::vector<T> out(d);
        const OutputPass pass =
            backend.kernels->order_mean(rows.view(), nullptr, 1, 4, std::span<T>(out));
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_EQ(pass.scan[i].finite, i != 3 || std::isfinite(number)) << backend.name;
        }
        // One extreme of five is trimmed, so the output is finite and all backends agree on it.
        EXPECT_TRUE(pass.finite) << backend.name;
        for (std::size_t k = 0; k < d; ++k) {
          EXPECT_NEAR(static_cast<double>(out[k]), static_cast<double>(expected[k]),
                      output_tolerance<T>(n, 10, static_cast<double>(expected[k])));
        }
      }
    }
  }
}

TYPED_TEST(OrderMeanTest, NonFiniteNumbersInTheWindowShow) {
  using T = TypeParam;
  for (const std::size_t n : {3, 1200}) {
    Rows<T> rows(n, 20);
    for (std::size_t i = 0; i < n; ++i) rows[i][18] = std::numeric_limits<T>::quiet_NaN();
    for (const Backend& backend : backends()) {
      std::vector<T> out(20);
      EXPECT_FALSE(
          backend.kernels->order_mean(rows.view(), nullptr, 1, 2, std::span<T>(out)).finite)
          << backend.name;
      EXPECT_TRUE(std::isnan(out[18]));
      EXPECT_EQ(out[17], 0);
    }
  }
}

TYPED_TEST(OrderMeanTest, SameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  for (const std::size_t n : {20, 1100}) {
    const std::size_t d = n < 100 ? 3000 : 100;
    const Rows<T> rows = normal_rows<T>(n, d);
    for (const SimdLevel level : supported_levels()) {
      std::vector<T> expected(d);
      cpu_kernels(level, 1)->order_mean(rows.view(), nullptr, 3, n - 3, std::span<T>(expected));
      for (const int threads : {2, 3, 5}) {
        std::vector<T> out(d);
        cpu_kernels(level, threads)->order_mean(rows.view(), nullptr, 3, n - 3, std::span<T>(out));
        EXPECT_TRUE(same_bits(out, expected));
      }
    }
  }
}

}  // namespace
}  // namespace boba::testing
