// Products in double of float32 rows: as exact as those of float64 rows, with the same contract.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "boba/kernels/reference/reference.h"
#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"
#include "tests/support/kernels_tolerance.h"

namespace boba::testing {
namespace {

void expect_double(const Rows<float>& rows, std::span<const double> origin) {
  const std::size_t n = rows.rows();
  const GramPass expected = make_reference_kernels()->gram(rows.view(), origin);
  for (const Backend& backend : backends()) {
    const GramPass pass = backend.kernels->gram(rows.view(), origin, Precision::kDouble);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(pass.scan[i].finite, expected.scan[i].finite);
      EXPECT_EQ(pass.scan[i].max_abs, expected.scan[i].max_abs);
      for (std::size_t j = 0; j < n; ++j) {
        const double size = std::sqrt(expected.centred[i * n + i] * expected.centred[j * n + j]);
        EXPECT_NEAR(pass.centred[i * n + j], expected.centred[i * n + j],
                    gram_tolerance<double>(rows.length(), size))
            << backend.name << ' ' << i << ' ' << j;
      }
    }
  }
}

TEST(GramPrecision, DoubleForFloatRows) {
  for (const std::size_t d : {1U, 63U, 255U, 256U, 257U, 3000U}) {
    const Rows<float> rows = normal_rows<float>(27, d, 1.0, 3.0);
    expect_double(rows, {});
    std::vector<double> one(27, 0.0);
    one[4] = 1;
    expect_double(rows, one);
  }
}

TEST(GramPrecision, HostileRowsInDouble) {
  Rows<float> rows = normal_rows<float>(5, 700);
  rows[1][699] = std::numeric_limits<float>::quiet_NaN();
  rows[2][0] = -std::numeric_limits<float>::infinity();
  for (float& x : rows[3]) x = 3e38F;
  for (float& x : rows[4]) x = 1e-42F;
  expect_double(rows, {});
}

TEST(GramPrecision, SameBitsForAnyNumberOfThreads) {
  const Rows<float> rows = normal_rows<float>(31, 5000);
  for (const SimdLevel level : supported_levels()) {
    const GramPass one = cpu_kernels(level, 1)->gram(rows.view(), {}, Precision::kDouble);
    for (int threads : {2, 3, 5}) {
      const GramPass more = cpu_kernels(level, threads)->gram(rows.view(), {}, Precision::kDouble);
      EXPECT_EQ(one.centred, more.centred);
    }
  }
}

}  // namespace
}  // namespace boba::testing
