#include <gtest/gtest.h>

#include <cmath>

#include "boba/kernels/reference/reference.h"
#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"
#include "tests/support/kernels_tolerance.h"

namespace boba::testing {
namespace {

template <class T>
class DotsTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DotsTest, Types);

// Around lanes, unrolled lanes, tiles and chunks.
constexpr std::size_t kLengths[] = {0,  1,   2,   7,    8,    9,    15,   16,   17,  31,
                                    33, 100, 127, 1023, 1024, 1025, 4096, 4097, 9000};

TYPED_TEST(DotsTest, IntegersAreExact) {
  using T = TypeParam;
  for (const std::size_t n : {0, 1, 3}) {
    for (const std::size_t d : kLengths) {
      const Rows<T> rows = integer_rows<T>(n, d);
      const Rows<T> reference = integer_rows<T>(3, d, 9);
      const std::vector<double> weights = {2, 0, -1};
      DotsPass expected;
      std::vector<double> r(d);
      for (std::size_t k = 0; k < d; ++k) {
        r[k] = 2 * static_cast<double>(reference[0][k]) - static_cast<double>(reference[2][k]);
        expected.reference_sq += r[k] * r[k];
      }
      for (std::size_t i = 0; i < n; ++i) {
        double square = 0, product = 0;
        for (std::size_t k = 0; k < d; ++k) {
          square += static_cast<double>(rows[i][k] * rows[i][k]);
          product += static_cast<double>(rows[i][k]) * r[k];
        }
        expected.sq_norm.push_back(square);
        expected.dot.push_back(product);
      }
      const Rows<T> before = rows;
      for (const Backend& backend : backends()) {
        const DotsPass pass = backend.kernels->dots(rows.view(), reference.view(), weights);
        EXPECT_EQ(pass.dot, expected.dot) << backend.name << " d=" << d;
        EXPECT_EQ(pass.sq_norm, expected.sq_norm) << backend.name << " d=" << d;
        EXPECT_EQ(pass.reference_sq, expected.reference_sq) << backend.name << " d=" << d;
        ASSERT_EQ(pass.scan.size(), n);
        const DotsPass norms = backend.kernels->dots(rows.view(), {}, {});
        EXPECT_TRUE(norms.dot.empty());
        EXPECT_EQ(norms.sq_norm, expected.sq_norm) << backend.name << " d=" << d;
        EXPECT_EQ(norms.reference_sq, 0);
      }
      EXPECT_TRUE(rows.same_as(before));
    }
  }
}

TYPED_TEST(DotsTest, AgreesWithReference) {
  using T = TypeParam;
  const std::size_t n = 5, d = 9001;
  const Rows<T> rows = normal_rows<T>(n, d, 1, 1);
  const std::vector<double> weights(n, 1.0 / static_cast<double>(n));
  const DotsPass expected = make_reference_kernels()->dots(rows.view(), rows.view(), weights);
  for (const Backend& backend : backends()) {
    const DotsPass pass = backend.kernels->dots(rows.view(), rows.view(), weights);
    const double r = std::sqrt(expected.reference_sq);
    EXPECT_NEAR(pass.reference_sq, expected.reference_sq, sum_tolerance(d, expected.reference_sq));
    for (std::size_t i = 0; i < n; ++i) {
      const double square = expected.sq_norm[i];
      EXPECT_NEAR(pass.sq_norm[i], square, sum_tolerance(d, square)) << backend.name;
      EXPECT_NEAR(pass.dot[i], expected.dot[i], sum_tolerance(d + n, std::sqrt(square) * r));
      EXPECT_EQ(pass.scan[i].max_abs, expected.scan[i].max_abs);
    }
  }
}

TYPED_TEST(DotsTest, HostileRowTouchesOnlyItsOwnNumbers) {
  using T = TypeParam;
  const std::size_t n = 4, d = 1100, bad = 2;
  const Rows<T> honest = normal_rows<T>(n, d);
  const Rows<T> reference = normal_rows<T>(2, d);
  const std::vector<double> weights = {0.5, 0.5};
  for (const Backend& backend : backends()) {
    const DotsPass expected = backend.kernels->dots(honest.view(), reference.view(), weights);
    for (const T number : hostile_numbers<T>()) {
      for (const std::size_t place : interesting_places(d)) {
        Rows<T> rows = honest;
        rows[bad][place] = number;
        const DotsPass pass = backend.kernels->dots(rows.view(), reference.view(), weights);
        for (std::size_t i = 0; i < n; ++i) {
          if (i == bad) continue;
          EXPECT_EQ(pass.dot[i], expected.dot[i]);
          EXPECT_EQ(pass.sq_norm[i], expected.sq_norm[i]);
          EXPECT_TRUE(pass.scan[i].finite);
        }
        EXPECT_EQ(pass.scan[bad].finite, std::isfinite(number)) << backend.name;
        if (std::isfinite(number)) continue;
        EXPECT_EQ(pass.dot[bad], 0) << backend.name;
        EXPECT_EQ(pass.sq_norm[bad], std::numeric_limits<double>::infinity()) << backend.name;
      }
    }
  }
}

TEST(DotsFloat, SquaresOfAnySizeFit) {
  Rows<float> rows(2, 20);
  for (float& x : rows[0]) x = std::numeric_limits<float>::max();
  for (float& x : rows[1]) x = std::numeric_limits<float>::denorm_min();
  const double most = std::numeric_limits<float>::max();
  for (const Backend& backend : backends()) {
    const DotsPass pass = backend.kernels->dots(rows.view(), {}, {});
    EXPECT_DOUBLE_EQ(pass.sq_norm[0], 20 * most * most);
    EXPECT_EQ(pass.sq_norm[1], 20 * 0x1p-298);
  }
}

TYPED_TEST(DotsTest, ReferenceRowsOfWeightZeroAreNotRead) {
  using T = TypeParam;
  const std::size_t d = 50;
  const Rows<T> rows = integer_rows<T>(2, d);
  Rows<T> reference = integer_rows<T>(2, d, 4);
  for (T& x : reference[1]) x = std::numeric_limits<T>::quiet_NaN();
  for (const Backend& backend : backends()) {
    const DotsPass pass =
        backend.kernels->dots(rows.view(), reference.view(), std::vector<double>{1, 0});
    EXPECT_TRUE(std::isfinite(pass.dot[0])) << backend.name;
    EXPECT_TRUE(std::isfinite(pass.reference_sq)) << backend.name;
  }
}

TYPED_TEST(DotsTest, SameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  const std::size_t n = 3, d = 30000;
  const Rows<T> rows = normal_rows<T>(n, d);
  const std::vector<double> weights(n, 1.0 / 3);
  for (const SimdLevel level : supported_levels()) {
    const DotsPass expected = cpu_kernels(level, 1)->dots(rows.view(), rows.view(), weights);
    for (const int threads : {2, 3, 5}) {
      const DotsPass pass = cpu_kernels(level, threads)->dots(rows.view(), rows.view(), weights);
      EXPECT_TRUE(same_bits(pass.dot, expected.dot));
      EXPECT_TRUE(same_bits(pass.sq_norm, expected.sq_norm));
      EXPECT_EQ(pass.reference_sq, expected.reference_sq);
    }
  }
}

}  // namespace
}  // namespace boba::testing
