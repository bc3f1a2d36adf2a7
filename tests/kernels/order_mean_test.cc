#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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

// The low bits of `bits` as a number.
template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  } else {
    return std::bit_cast<T>(bits);
  }
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

// Blocks of 8 and 16 rows, one more, one less, and as many trimmed.
TYPED_TEST(OrderMeanTest, IntegersAreExactForEveryTrim) {
  using T = TypeParam;
  for (const std::size_t n : {16, 31, 33, 48, 63, 95, 96, 100, 113, 190, 250, 380}) {
    const std::size_t d = 37;
    const Rows<T> rows = integer_rows<T>(n, d);
    for (const std::size_t f : {1, 7, 8, 9, 10, 15, 16, 17, 24, 33, 49}) {
      if (2 * f >= n) continue;
      for (const auto [first, last] : {Window{f, n - f}, Window{0, n - f}, Window{f, n}}) {
        const std::vector<T> expected = plain(rows, first, last);
        for (const Backend& backend : backends()) {
          std::vector<T> out(d);
          backend.kernels->order_mean(rows.view(), nullptr, first, last, std::span<T>(out));
          ASSERT_EQ(out, expected) << backend.name << " n=" << n << ' ' << first << ' ' << last;
        }
      }
    }
  }
}

// Where ties fall on the ends of the window, and where numbers are of one kind only.
TYPED_TEST(OrderMeanTest, TiesZerosAndTheSmallestNumbers) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const std::vector<std::vector<T>> kinds = {
      {T{3}},
      {T{-0.0}},
      {T{-0.0}, T{0}},
      {T{-1}, T{1}},
      {T{-1}, T{-1}, T{-1}, T{-1}, T{-1}, T{2}},
      {Limits::denorm_min(), -Limits::denorm_min(), T{0}, 5 * Limits::denorm_min()},
      {Limits::denorm_min(), 2 * Limits::denorm_min(), 3 * Limits::denorm_min()},
      {T{1} + T{0x1p-20}, T{1}, T{1} - T{0x1p-20}}};  // their sums are exact
  const std::size_t n = 100, d = 70;
  const auto reference = make_reference_kernels();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    Rows<T> rows(n, d);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < d; ++k) {
        const StreamKey key{.seed = kind, .round = static_cast<std::uint32_t>(i)};
        rows[i][k] = kinds[kind][random_block(key, k)[0] % kinds[kind].size()];
      }
    }
    for (const auto [first, last] : {Window{10, 90}, Window{16, 84}, Window{49, 51}}) {
      std::vector<T> expected(d);
      reference->order_mean(rows.view(), nullptr, first, last, std::span<T>(expected));
      for (const Backend& backend : backends()) {
        std::vector<T> out(d);
        const OutputPass pass =
            backend.kernels->order_mean(rows.view(), nullptr, first, last, std::span<T>(out));
        EXPECT_TRUE(same_bits(out, expected)) << backend.name << " kind " << kind;
        EXPECT_TRUE(pass.finite);
      }
    }
  }
}

// Ten of a hundred at either end: every kind of NaN, infinity and the largest numbers are trimmed
// away, in each column other rows, and leave what the honest rows say.
TYPED_TEST(OrderMeanTest, HostileRowsAmongMany) {
  using T = TypeParam;
  const std::size_t n = 100, d = 200, f = 10;
  std::vector<T> hostile = hostile_numbers<T>();
  std::erase(hostile, std::numeric_limits<T>::denorm_min());  // would make the sum inexact
  Rows<T> rows = integer_rows<T>(n, d);
  std::vector<bool> finite(n, true);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t h = 0; h < f; ++h) {
      const std::size_t row = (k * 7 + h * 10) % n;
      T number = hostile[(k + h) % hostile.size()];
      if (std::isnan(number)) {
        // All bits of the fraction: as far out as a key can be, at either end.
        number = from_bits<T>(h % 2 == 0 ? ~std::uint64_t{0} : ~std::uint64_t{0} >> 1);
      }
      rows[row][k] = number;
      finite[row] = finite[row] && std::isfinite(number);
    }
  }
  const auto reference = make_reference_kernels();
  std::vector<T> expected(d);
  const OutputPass seen =
      reference->order_mean(rows.view(), nullptr, f, n - f, std::span<T>(expected));
  EXPECT_TRUE(seen.finite);
  for (const Backend& backend : backends()) {
    std::vector<T> out(d);
    const OutputPass pass =
        backend.kernels->order_mean(rows.view(), nullptr, f, n - f, std::span<T>(out));
    EXPECT_EQ(out, expected) << backend.name;
    EXPECT_TRUE(pass.finite);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(pass.scan[i].finite, finite[i]) << backend.name << " row " << i;
      EXPECT_EQ(pass.scan[i].max_abs, seen.scan[i].max_abs) << backend.name << " row " << i;
    }
  }
}

// Whichever row of many, whichever column: the largest number of a row is found.
TYPED_TEST(OrderMeanTest, ScanOfManyRows) {
  using T = TypeParam;
  const std::size_t n = 37, d = 300;
  for (const std::size_t place : interesting_places(d)) {
    Rows<T> rows = normal_rows<T>(n, d);
    for (std::size_t i = 0; i < n; ++i) {
      const T size = static_cast<T>(100 + i);
      rows[i][place] = i % 2 == 0 ? size : -size;
    }
    for (const Backend& backend : backends()) {
      std::vector<T> out(d);
      const OutputPass pass =
          backend.kernels->order_mean(rows.view(), nullptr, 4, n - 4, std::span<T>(out));
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(pass.scan[i].max_abs, static_cast<double>(100 + i)) << backend.name << ' ' << i;
      }
    }
  }
}

// In another order of the rows only the last bits of the sums may differ.
TYPED_TEST(OrderMeanTest, OrderOfRowsDoesNotMatter) {
  using T = TypeParam;
  const std::size_t n = 100, d = 150;
  const Rows<T> rows = normal_rows<T>(n, d, 1, 10);
  const std::vector<std::size_t> order = permutation({.seed = 3}, n);
  Rows<T> other(n, d);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy(rows[order[i]].begin(), rows[order[i]].end(), other[i].begin());
  }
  for (const Backend& backend : backends()) {
    std::vector<T> out(d), again(d);
    backend.kernels->order_mean(rows.view(), nullptr, 10, 90, std::span<T>(out));
    backend.kernels->order_mean(other.view(), nullptr, 10, 90, std::span<T>(again));
    for (std::size_t k = 0; k < d; ++k) {
      const auto value = static_cast<double>(out[k]);
      EXPECT_NEAR(value, static_cast<double>(again[k]),
                  output_tolerance<T>(n, std::abs(value) + 10, value));
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

// A column's bits do not depend on where it stands: a shard of the columns gives the same.
TYPED_TEST(OrderMeanTest, SameBitsForColumnsApart) {
  using T = TypeParam;
  const std::size_t n = 100, d = 333;
  const Rows<T> rows = normal_rows<T>(n, d);
  for (const SimdLevel level : supported_levels()) {
    const auto kernels = cpu_kernels(level, 2);
    std::vector<T> whole(d);
    kernels->order_mean(rows.view(), nullptr, 10, 90, std::span<T>(whole));
    for (const std::size_t cut : {1, 13, 64, 200}) {
      Rows<T> part(n, d - cut);
      for (std::size_t i = 0; i < n; ++i) {
        const auto tail = rows[i].subspan(cut);
        std::copy(tail.begin(), tail.end(), part[i].begin());
      }
      std::vector<T> out(d - cut);
      kernels->order_mean(part.view(), nullptr, 10, 90, std::span<T>(out));
      EXPECT_TRUE(same_bits(
          out, std::vector<T>(whole.begin() + static_cast<std::ptrdiff_t>(cut), whole.end())));
    }
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

// Enough mixed rows for sorted blocks, and columns of several jobs.
TYPED_TEST(OrderMeanTest, ManyMixedRows) {
  using T = TypeParam;
  const std::size_t n = 90, d = 300, m = n / 2;
  const Rows<T> rows = integer_rows<T>(n, d);
  Mix mix;
  Rows<T> mixed(m, d);
  for (std::size_t i = 0; i < m; ++i) {
    const Mix::Term terms[] = {{i, 0.5}, {n - 1 - i, 0.5}};
    mix.add(terms);
    for (std::size_t k = 0; k < d; ++k) {
      mixed[i][k] = T{0.5} * rows[i][k] + T{0.5} * rows[n - 1 - i][k];
    }
  }
  for (const auto [first, last] : windows(m)) {
    const std::vector<T> expected = plain(mixed, first, last);
    for (const Backend& backend : backends()) {
      std::vector<T> out(d);
      const OutputPass pass =
          backend.kernels->order_mean(rows.view(), &mix, first, last, std::span<T>(out));
      EXPECT_EQ(out, expected) << backend.name;
      ASSERT_EQ(pass.scan.size(), n);
      for (const RowScan& scan : pass.scan) EXPECT_EQ(scan.max_abs, 8);
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
  for (const std::size_t n : {20, 100, 1100}) {
    const std::size_t d = n < 200 ? 3000 : 100;
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
