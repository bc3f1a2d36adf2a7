#include <gtest/gtest.h>

#include <cmath>

#include "boba/kernels/reference/reference.h"
#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"
#include "tests/support/kernels_tolerance.h"

namespace boba::testing {
namespace {

template <class T>
class GramTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GramTest, Types);

struct Shape {
  std::size_t n;
  std::size_t d;
};

// Around lanes, tiles, patches, blocks and panels.
const Shape kShapes[] = {{0, 5},    {1, 0},    {3, 0},    {1, 1},     {2, 1},     {2, 15},
                         {3, 16},   {4, 17},   {5, 31},   {6, 33},    {7, 63},    {8, 64},
                         {11, 65},  {12, 255}, {13, 256}, {23, 257},  {24, 511},  {25, 512},
                         {26, 513}, {47, 100}, {48, 768}, {49, 3100}, {73, 1025}, {3, 34000}};

template <class T>
double plain_dot(std::span<const T> a, std::span<const T> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  }
  return sum;
}

TYPED_TEST(GramTest, IntegersAreExact) {
  using T = TypeParam;
  for (const auto [n, d] : kShapes) {
    const Rows<T> rows = integer_rows<T>(n, d);
    std::vector<double> expected(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) expected[i * n + j] = plain_dot<T>(rows[i], rows[j]);
    }
    const Rows<T> before = rows;
    for (const Backend& backend : backends()) {
      const GramPass pass = backend.kernels->gram(rows.view(), {});
      EXPECT_EQ(pass.centred, expected) << backend.name << " n=" << n << " d=" << d;
      EXPECT_EQ(pass.origin_dot, std::vector<double>(n));
      EXPECT_EQ(pass.origin_sq, 0);
      ASSERT_EQ(pass.scan.size(), n);
      for (const RowScan& scan : pass.scan) EXPECT_TRUE(scan.finite);
    }
    EXPECT_TRUE(rows.same_as(before));
  }
}

// With o = a_0 + a_1 - a_2 everything stays an integer.
TYPED_TEST(GramTest, IntegersAboutAnOriginAreExact) {
  using T = TypeParam;
  for (const auto [n, d] : kShapes) {
    if (n < 3) continue;
    const Rows<T> rows = integer_rows<T>(n, d);
    std::vector<double> weights(n);
    weights[0] = weights[1] = 1;
    weights[2] = -1;
    Rows<T> centred(n + 1, d);
    for (std::size_t k = 0; k < d; ++k) {
      centred[n][k] = rows[0][k] + rows[1][k] - rows[2][k];
      for (std::size_t i = 0; i < n; ++i) centred[i][k] = rows[i][k] - centred[n][k];
    }
    for (const Backend& backend : backends()) {
      const GramPass pass = backend.kernels->gram(rows.view(), weights);
      ASSERT_EQ(pass.centred.size(), n * n);
      EXPECT_EQ(pass.origin_sq, plain_dot<T>(centred[n], centred[n])) << backend.name;
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(pass.origin_dot[i], plain_dot<T>(centred[n], centred[i])) << backend.name;
        const std::size_t j = (i * 7 + 3) % n;
        const double expected = plain_dot<T>(centred[i], centred[j]);
        EXPECT_EQ(pass.centred[i * n + j], expected) << backend.name << " n=" << n << " d=" << d;
        EXPECT_EQ(pass.centred[j * n + i], expected) << backend.name;
      }
    }
  }
}

TYPED_TEST(GramTest, ThousandsOfRows) {
  using T = TypeParam;
  const std::size_t n = 2100, d = 135;
  const Rows<T> rows = integer_rows<T>(n, d);
  for (const SimdLevel level : supported_levels()) {
    const GramPass pass = cpu_kernels(level, 2)->gram(rows.view(), {});
    for (std::size_t t = 0; t < 4000; ++t) {
      const std::size_t i = t * 131 % n, j = t * 977 % n;
      ASSERT_EQ(pass.centred[i * n + j], plain_dot<T>(rows[i], rows[j])) << i << ' ' << j;
    }
  }
}

TYPED_TEST(GramTest, AgreesWithReference) {
  using T = TypeParam;
  const auto reference = make_reference_kernels();
  for (const Shape& shape : {Shape{26, 1100}, Shape{7, 40}, Shape{5, 17000}}) {
    const std::size_t n = shape.n, d = shape.d;
    const Rows<T> rows = normal_rows<T>(n, d, 1, 3);
    const std::vector<double> weights(n, 1.0 / static_cast<double>(n));
    const GramPass expected = reference->gram(rows.view(), weights);
    for (const Backend& backend : backends()) {
      const GramPass pass = backend.kernels->gram(rows.view(), weights);
      const auto size = [&](std::size_t i) { return std::sqrt(expected.centred[i * n + i]); };
      const double origin = std::sqrt(expected.origin_sq);
      EXPECT_NEAR(pass.origin_sq, expected.origin_sq, gram_tolerance<T>(d, expected.origin_sq));
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(pass.origin_dot[i], expected.origin_dot[i],
                    gram_tolerance<T>(d, origin * (size(i) + origin)));
        EXPECT_EQ(pass.scan[i].max_abs, expected.scan[i].max_abs);
        for (std::size_t j = 0; j < n; ++j) {
          EXPECT_NEAR(pass.centred[i * n + j], expected.centred[i * n + j],
                      gram_tolerance<T>(d, (size(i) + origin) * (size(j) + origin)))
              << backend.name;
        }
      }
    }
  }
}

// Whatever one row holds, the products of the others keep their bits.
TYPED_TEST(GramTest, HostileRowTouchesOnlyItsOwnProducts) {
  using T = TypeParam;
  const std::size_t n = 14, d = 1100, bad = 5;
  const Rows<T> honest = normal_rows<T>(n, d);
  std::vector<double> weights(n);
  weights[n - 1] = weights[n - 2] = 0.5;
  for (const SimdLevel level : supported_levels()) {
    const auto kernels = cpu_kernels(level, 2);
    for (const bool centred : {false, true}) {
      const std::span<const double> origin = centred ? weights : std::span<const double>();
      Rows<T> zeroed = honest;
      for (T& x : zeroed[bad]) x = 0;
      const GramPass expected = kernels->gram(zeroed.view(), origin);
      for (const T number : hostile_numbers<T>()) {
        for (const std::size_t place : interesting_places(d)) {
          Rows<T> rows = honest;
          rows[bad][place] = number;
          const GramPass pass = kernels->gram(rows.view(), origin);
          EXPECT_EQ(pass.scan[bad].finite, std::isfinite(number)) << number << " at " << place;
          EXPECT_EQ(pass.origin_sq, expected.origin_sq);
          for (std::size_t i = 0; i < n; ++i) {
            EXPECT_TRUE(i == bad || pass.origin_dot[i] == expected.origin_dot[i]);
            for (std::size_t j = 0; j < n; ++j) {
              if (i != bad && j != bad) {
                EXPECT_EQ(pass.centred[i * n + j], expected.centred[i * n + j]);
              } else if (!std::isfinite(number)) {
                EXPECT_EQ(pass.centred[i * n + j], 0);
                EXPECT_EQ(pass.origin_dot[bad], 0);
                EXPECT_EQ(pass.scan[bad].max_abs, 0);
              }
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(GramTest, RefusesNonFiniteRowsOnEveryBackend) {
  using T = TypeParam;
  const std::size_t n = 4, d = 70;
  Rows<T> rows = integer_rows<T>(n, d);
  rows[1][69] = std::numeric_limits<T>::quiet_NaN();
  rows[3][0] = -std::numeric_limits<T>::infinity();
  const double expected[] = {plain_dot<T>(rows[0], rows[0]), plain_dot<T>(rows[0], rows[2]),
                             plain_dot<T>(rows[2], rows[2])};
  for (const Backend& backend : backends()) {
    const GramPass pass = backend.kernels->gram(rows.view(), {});
    EXPECT_EQ(pass.centred, (std::vector<double>{expected[0], 0, expected[1], 0,  //
                                                 0, 0, 0, 0,                      //
                                                 expected[1], 0, expected[2], 0,  //
                                                 0, 0, 0, 0}))
        << backend.name;
    EXPECT_FALSE(pass.scan[1].finite);
    EXPECT_FALSE(pass.scan[3].finite);
    EXPECT_EQ(pass.scan[0].max_abs, 8);
  }
}

// Squares of these do not fit a float; differences of the largest do not either.
TEST(GramFloat, LargestNumbersDoNotOverflow) {
  const float most = 0x1.8p127F;
  for (const std::size_t d : {1, 17, 600}) {
    Rows<float> rows(3, d);
    for (float& x : rows[0]) x = most;
    for (float& x : rows[1]) x = -most;
    for (float& x : rows[2]) x = 1;
    const double square = static_cast<double>(most) * most * static_cast<double>(d);
    for (const Backend& backend : backends()) {
      const GramPass plain = backend.kernels->gram(rows.view(), {});
      EXPECT_DOUBLE_EQ(plain.centred[0] / square, 1) << backend.name;
      EXPECT_DOUBLE_EQ(plain.centred[1] / square, -1);
      EXPECT_DOUBLE_EQ(plain.centred[2], static_cast<double>(most) * static_cast<double>(d));
      const GramPass centred = backend.kernels->gram(rows.view(), std::vector<double>{0, 1, 0});
      EXPECT_DOUBLE_EQ(centred.centred[0] / square, 4) << backend.name;
      EXPECT_DOUBLE_EQ(centred.centred[2] / square, 2);
      EXPECT_EQ(centred.centred[4], 0);
      EXPECT_DOUBLE_EQ(centred.origin_dot[0] / square, -2);
      EXPECT_DOUBLE_EQ(centred.origin_sq / square, 1);
      // An origin too large for the type stops at the largest number.
      const GramPass stopped = backend.kernels->gram(rows.view(), std::vector<double>{2, 0, 0});
      EXPECT_NEAR(stopped.centred[0] / square, 1.0 / 9, 1e-6) << backend.name;
      EXPECT_TRUE(stopped.scan[0].finite);
    }
  }
}

TEST(GramFloat, DenormalsDoNotVanish) {
  const std::size_t d = 530;
  Rows<float> rows(2, d);
  for (float& x : rows[0]) x = std::numeric_limits<float>::denorm_min();
  for (float& x : rows[1]) x = 1;
  for (const Backend& backend : backends()) {
    const GramPass pass = backend.kernels->gram(rows.view(), {});
    EXPECT_EQ(pass.centred[0], 0x1p-298 * static_cast<double>(d)) << backend.name;
    EXPECT_EQ(pass.centred[1], 0x1p-149 * static_cast<double>(d)) << backend.name;
    EXPECT_EQ(pass.scan[0].max_abs, 0x1p-149);
  }
}

TYPED_TEST(GramTest, SameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  for (const auto [n, d] : {Shape{49, 5000}, Shape{130, 300}, Shape{2, 40000}}) {
    const Rows<T> rows = normal_rows<T>(n, d);
    const std::vector<double> weights(n, 1.0 / static_cast<double>(n));
    for (const SimdLevel level : supported_levels()) {
      const GramPass expected = cpu_kernels(level, 1)->gram(rows.view(), weights);
      for (const int threads : {2, 3, 5}) {
        const GramPass pass = cpu_kernels(level, threads)->gram(rows.view(), weights);
        EXPECT_TRUE(same_bits(pass.centred, expected.centred));
        EXPECT_TRUE(same_bits(pass.origin_dot, expected.origin_dot));
        EXPECT_EQ(pass.origin_sq, expected.origin_sq);
      }
    }
  }
}

// A product does not depend on where in the matrix its rows stand.
TYPED_TEST(GramTest, SameBitsForAnyOrderOfRows) {
  using T = TypeParam;
  const std::size_t n = 31, d = 700;
  const Rows<T> rows = normal_rows<T>(n, d);
  const std::vector<std::size_t> order = permutation({.seed = 3}, n);
  RowList shuffled(kDType<T>, d);
  for (const std::size_t i : order) shuffled.add(rows.view(), i);
  for (const Backend& backend : backends()) {
    const GramPass a = backend.kernels->gram(rows.view(), {});
    const GramPass b = backend.kernels->gram(shuffled.view(), {});
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        ASSERT_EQ(b.centred[i * n + j], a.centred[order[i] * n + order[j]]) << backend.name;
      }
    }
  }
}

}  // namespace
}  // namespace boba::testing
