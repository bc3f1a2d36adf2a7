#include "boba/kernels/sketch/sketch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "boba/core/sketch.h"
#include "boba/kernels/reference/reference.h"
#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"

namespace boba::testing {
namespace {

template <class T>
class SketchTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SketchTest, Types);

constexpr std::size_t kLengths[] = {0, 1, 15, 16, 17, 31, 64, 100, 1023, 1024, 4097, 20000};

template <class T>
std::vector<double> sketch_of(const Kernels& kernels, const Rows<T>& rows, const SketchPlan& plan) {
  std::vector<double> out(rows.rows() * plan.length, 77.0);
  kernels.sketch(rows.view(), plan, out);
  return out;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

TYPED_TEST(SketchTest, EveryBackendGivesTheSameBits) {
  using T = TypeParam;
  const auto reference = make_reference_kernels();
  for (const std::size_t d : kLengths) {
    for (const std::size_t length : {64, 512, 65536}) {
      const Rows<T> rows = normal_rows<T>(3, d);
      const SketchPlan plan{.seed = 5, .round = 2, .length = length};
      const std::vector<double> expected = sketch_of(*reference, rows, plan);
      for (const Backend& backend : backends()) {
        EXPECT_TRUE(same_bits(sketch_of(*backend.kernels, rows, plan), expected))
            << backend.name << " d=" << d << " length=" << length;
      }
    }
  }
}

// Every column lands once, with either sign: a unit row's sketch is one number of size 1.
TYPED_TEST(SketchTest, EachColumnHasOnePlace) {
  using T = TypeParam;
  constexpr std::size_t kColumns = 200;
  Rows<T> rows(kColumns, kColumns);
  for (std::size_t i = 0; i < kColumns; ++i) rows[i][i] = 1;
  for (const Backend& backend : backends()) {
    const std::vector<double> out = sketch_of(*backend.kernels, rows, {.seed = 1, .length = 128});
    for (std::size_t i = 0; i < kColumns; ++i) {
      const auto sketch = std::span(out).subspan(i * 128, 128);
      EXPECT_EQ(dot(sketch, sketch), 1) << backend.name << " column " << i;
    }
  }
}

TYPED_TEST(SketchTest, PiecesOfRowsAddUp) {
  using T = TypeParam;
  const Rows<T> whole = integer_rows<T>(2, 1000);
  const SketchPlan plan{.seed = 3, .length = 256};
  for (const Backend& backend : backends()) {
    std::vector<double> sum(2 * 256, 0.0);
    for (const auto& [first, width] :
         {std::pair<std::size_t, std::size_t>{0, 336}, {336, 16}, {352, 648}}) {
      SketchPlan part = plan;
      part.first = first;
      const RowList columns = RowList(whole.view()).columns(first, width);
      std::vector<double> out(2 * 256);
      backend.kernels->sketch(columns.view(), part, out);
      for (std::size_t k = 0; k < out.size(); ++k) sum[k] += out[k];
    }
    EXPECT_EQ(sum, sketch_of(*backend.kernels, whole, plan)) << backend.name;
  }
}

TYPED_TEST(SketchTest, HostileRowsStayAlone) {
  using T = TypeParam;
  for (const T hostile : hostile_numbers<T>()) {
    for (const std::size_t place : interesting_places(1030)) {
      Rows<T> rows = normal_rows<T>(3, 1030);
      const Rows<T> clean = rows;
      rows[1][place] = hostile;
      const SketchPlan plan{.seed = 9, .length = 256};
      for (const Backend& backend : backends()) {
        std::vector<double> out(3 * 256);
        const std::vector<RowScan> scan = backend.kernels->sketch(rows.view(), plan, out);
        const std::vector<double> expected = sketch_of(*backend.kernels, clean, plan);
        ASSERT_EQ(scan.size(), 3U);
        EXPECT_EQ(scan[1].finite, std::isfinite(hostile)) << backend.name;
        for (const std::size_t other : {0, 2}) {
          EXPECT_TRUE(same_bits(std::span(out).subspan(other * 256, 256),
                                std::span(expected).subspan(other * 256, 256)));
        }
        for (std::size_t k = 256; k < 512; ++k) {
          EXPECT_TRUE(scan[1].finite ? std::isfinite(out[k]) : out[k] == 0);
        }
      }
    }
  }
}

// Over seeds, products are right on average and off by about |a| |b| / sqrt(length), also where
// all of a row is in one column of every line, or one line's columns.
TEST(Sketch, KeepsInnerProducts) {
  const auto kernels = cpu_kernels(SimdLevel::kAuto, 1);
  constexpr std::size_t kColumns = 8192;
  Rows<float> rows = normal_rows<float>(6, kColumns);
  for (std::size_t k = 0; k < kColumns; ++k) {
    if (k % 16 != 3) rows[2][k] = 0;  // one column of every line
    if (k % 16 != 3) rows[3][k] = 0;
    if (k / 512 != 4) rows[4][k] = 0;             // a few lines
    rows[5][k] = rows[0][k] + 0.5F * rows[1][k];  // not orthogonal to others
  }
  constexpr std::size_t kLength = 256;
  constexpr int kSeeds = 400;
  for (const auto& [i, j] : {std::pair<std::size_t, std::size_t>{0, 1},
                             {0, 0},
                             {2, 3},
                             {2, 2},
                             {4, 4},
                             {0, 5},
                             {2, 4}}) {
    double exact = 0, i_sq = 0, j_sq = 0;
    for (std::size_t k = 0; k < kColumns; ++k) {
      exact += static_cast<double>(rows[i][k]) * static_cast<double>(rows[j][k]);
      i_sq += static_cast<double>(rows[i][k]) * static_cast<double>(rows[i][k]);
      j_sq += static_cast<double>(rows[j][k]) * static_cast<double>(rows[j][k]);
    }
    double mean = 0;
    double variance = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const std::vector<double> out =
          sketch_of(*kernels, rows, {.seed = static_cast<std::uint64_t>(seed), .length = kLength});
      const double error = dot(std::span(out).subspan(i * kLength, kLength),
                               std::span(out).subspan(j * kLength, kLength)) -
                           exact;
      mean += error / kSeeds;
      variance += error * error / kSeeds;
    }
    const double bound = (i_sq * j_sq + exact * exact) / kLength;
    EXPECT_LT(variance, 1.4 * bound) << i << ", " << j;
    EXPECT_GT(variance, i == 4 ? 0 : 0.6 * bound) << i << ", " << j;
    EXPECT_LT(std::abs(mean), 4 * std::sqrt(bound / kSeeds)) << i << ", " << j;
  }
}

TEST(Sketch, SeedsAndRoundsGiveOtherProjections) {
  const auto kernels = make_reference_kernels();
  const Rows<float> rows = normal_rows<float>(1, 500);
  std::set<std::vector<double>> seen;
  for (std::uint64_t seed : {0, 1, 2}) {
    for (std::uint32_t round : {0, 1, 2}) {
      seen.insert(sketch_of(*kernels, rows, {.seed = seed, .round = round, .length = 64}));
    }
  }
  EXPECT_EQ(seen.size(), 9U);
}

TEST(SketchKernels, MultipliesSketchesAboutTheOrigin) {
  const Rows<float> rows = normal_rows<float>(5, 3000, 1, 20);
  const std::vector<double> origin = {0, 0.5, 0, 0.5, 0};
  for (const Backend& backend : backends()) {
    const SketchPlan plan{.seed = 4, .length = 512};
    const auto kernels = *make_sketch_kernels(*backend.kernels, plan);
    const GramPass pass = kernels->gram(rows.view(), origin);
    EXPECT_EQ(pass.sketch, 512U);
    const std::vector<double> out = sketch_of(*backend.kernels, rows, plan);
    const auto centred = [&](std::size_t i) {
      std::vector<double> row(512);
      for (std::size_t k = 0; k < 512; ++k) {
        row[k] = out[i * 512 + k] - (out[512 + k] + out[3 * 512 + k]) / 2;
      }
      return row;
    };
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 5; ++j) {
        const double expected = dot(centred(i), centred(j));
        EXPECT_NEAR(pass.centred[i * 5 + j], expected, 1e-9 * dot(centred(0), centred(0)))
            << backend.name;
      }
    }
    EXPECT_NE(kernels->name().find("sketches of length 512"), std::string::npos);
  }
}

TEST(SketchKernels, RowsThatAreNotFiniteAreZero) {
  Rows<double> rows = normal_rows<double>(3, 2000);
  rows[2][100] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> origin = {0.5, 0.5, 0};
  for (const Backend& backend : backends()) {
    const auto kernels = *make_sketch_kernels(*backend.kernels, {.seed = 4, .length = 64});
    const GramPass pass = kernels->gram(rows.view(), origin);
    EXPECT_FALSE(pass.scan[2].finite);
    EXPECT_EQ(pass.origin_dot[2], 0);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(pass.centred[2 * 3 + i], 0) << backend.name;
    EXPECT_GT(pass.centred[0], 0);
  }
}

TEST(SketchKernels, ShortRowsAreMultipliedAsTheyAre) {
  const Rows<float> rows = integer_rows<float>(4, 64);
  const auto reference = make_reference_kernels();
  const auto kernels = *make_sketch_kernels(*reference, {.seed = 1, .length = 64});
  const GramPass pass = kernels->gram(rows.view(), {});
  EXPECT_EQ(pass.sketch, 0U);
  EXPECT_EQ(pass.centred, reference->gram(rows.view(), {}).centred);
}

// Sums beside the sketch would be written to somebody else's memory.
TEST(SketchKernels, RefuseLengthsThatAreNoPowerOfTwo) {
  const auto reference = make_reference_kernels();
  for (const std::size_t length : {0, 1, 10, 16, 32, 63, 65, 100, 4095, 65537, 131072}) {
    const auto kernels = make_sketch_kernels(*reference, {.seed = 1, .length = length});
    ASSERT_FALSE(kernels) << length;
    EXPECT_EQ(kernels.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(kernels.error().message.find("must be a power of two from 64 to 65536"),
              std::string::npos);
  }
  EXPECT_FALSE(make_sketch_kernels(*reference, {.seed = 1, .length = 64, .first = 8}));
  for (std::size_t length = 64; length <= 65536; length *= 2) {
    EXPECT_TRUE(make_sketch_kernels(*reference, {.seed = 1, .length = length})) << length;
  }
}

TEST(SketchSeed, ComesFromTheSystemAndDiffers) {
  const Result<std::uint64_t> a = fresh_seed();
  const Result<std::uint64_t> b = fresh_seed();
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, *b);
}

}  // namespace
}  // namespace boba::testing
