#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"
#include "tests/support/kernels_tolerance.h"

namespace boba::testing {
namespace {

template <class T>
class NormalTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(NormalTest, Types);

// The same numbers on every backend, whatever the threads: those of normal_at.
TYPED_TEST(NormalTest, IsTheStream) {
  using T = TypeParam;
  const StreamKey key{.seed = 0x123456789abcdef, .round = 4, .client = 5};
  for (const std::size_t d : {0, 1, 2, 3, 2047, 2048, 2049, 9001}) {
    std::vector<T> expected(d);
    for (std::size_t k = 0; k < d; ++k) expected[k] = static_cast<T>(2.5 * normal_at(key, k));
    for (const Backend& backend : backends()) {
      std::vector<T> out(d);
      const OutputPass pass = backend.kernels->normal(key, 2.5, std::span<T>(out));
      EXPECT_TRUE(pass.finite);
      EXPECT_TRUE(pass.scan.empty());
      if (!backend.own_logarithm) {
        EXPECT_TRUE(same_bits(out, expected)) << backend.name << " d=" << d;
        continue;
      }
      for (std::size_t k = 0; k < d; ++k) {
        const double value = std::abs(static_cast<double>(expected[k]));
        ASSERT_NEAR(out[k], expected[k], 2 * unit<T>() * value + 16 * unit<double>() * value)
            << backend.name << " k=" << k;
      }
    }
  }
}

TEST(NormalFloat, ReportsNumbersTooLargeForTheType) {
  for (const Backend& backend : backends()) {
    std::vector<float> out(100);
    EXPECT_FALSE(backend.kernels->normal({}, 1e39, std::span<float>(out)).finite) << backend.name;
    EXPECT_TRUE(backend.kernels->normal({}, 0, std::span<float>(out)).finite) << backend.name;
    EXPECT_EQ(out, std::vector<float>(100));
  }
}

}  // namespace
}  // namespace boba::testing
