#include "boba/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

namespace boba {
namespace {

// The stream whose Philox key is (k0, k1): undoes the folding of the purpose into the seed.
StreamKey with_key(std::uint32_t k0, std::uint32_t k1) {
  const Purpose purpose = Purpose::kSynthetic;
  const std::uint32_t folded = static_cast<std::uint32_t>(purpose) * 0x9E3779B1U;
  return {.seed = std::uint64_t{k1 ^ folded} << 32 | k0, .purpose = purpose};
}

using Block = std::array<std::uint32_t, 4>;

// The known answers that the authors of Philox publish with their code.
TEST(RandomBlock, GivesThePublishedAnswers) {
  EXPECT_EQ(random_block(with_key(0, 0), 0),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));

  StreamKey ones = with_key(0xffffffff, 0xffffffff);
  ones.client = 0xffffffff;
  ones.round = 0xffffffff;
  EXPECT_EQ(random_block(ones, ~std::uint64_t{0}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));

  StreamKey pi = with_key(0xa4093822, 0x299f31d0);
  pi.client = 0x13198a2e;
  pi.round = 0x03707344;
  EXPECT_EQ(random_block(pi, 0x85a308d3243f6a88),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomBlock, EveryPartOfTheKeyMatters) {
  const StreamKey key{.seed = 1, .round = 2, .client = 3, .purpose = Purpose::kGauss};
  std::set<Block> seen = {random_block(key, 4), random_block(key, 5),
                          random_block(key, 4 + (std::uint64_t{1} << 32))};
  for (StreamKey other : {StreamKey{2, 2, 3, Purpose::kGauss}, StreamKey{1, 3, 3, Purpose::kGauss},
                          StreamKey{1, 2, 4, Purpose::kGauss}, StreamKey{1, 2, 3, Purpose::kBench},
                          StreamKey{1 + (std::uint64_t{1} << 32), 2, 3, Purpose::kGauss}}) {
    seen.insert(random_block(other, 4));
  }
  EXPECT_EQ(seen.size(), 8u);
}

TEST(UniformAt, LiesInTheOpenIntervalAndLooksUniform) {
  const StreamKey key{.seed = 11};
  constexpr int kDraws = 100000;
  double sum = 0;
  std::array<int, 20> cells{};
  for (int i = 0; i < kDraws; ++i) {
    const double u = uniform_at(key, static_cast<std::uint64_t>(i));
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    ++cells[static_cast<std::size_t>(u * 20)];
  }
  // Five standard deviations of the mean; chi-square with 19 degrees: 1e-6 lies beyond 59.
  EXPECT_NEAR(sum / kDraws, 0.5, 5 / std::sqrt(12.0 * kDraws));
  double chi = 0;
  for (int count : cells)
    chi += (count - kDraws / 20.0) * (count - kDraws / 20.0) / (kDraws / 20.0);
  EXPECT_LT(chi, 59);
}

TEST(NormalAt, HasTheMomentsOfANormal) {
  const StreamKey key{.seed = 12};
  constexpr int kDraws = 100000;
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = normal_at(key, static_cast<std::uint64_t>(i));
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  // Five standard deviations of each estimate: variances 1, 2 and 96.
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(double{kDraws}));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourths / kDraws, 3, 5 * std::sqrt(96.0 / kDraws));
}

// How far x is from the true quantile of p, by one Newton step in long double. The smaller tail
// is used, where neither erfc nor 1 - p cancels.
double quantile_error(double p, double x) {
  const bool lower = p < 0.5;
  const long double tail = lower ? p : 1 - static_cast<long double>(p);
  const long double z = lower ? -static_cast<long double>(x) : static_cast<long double>(x);
  const long double reached = std::erfc(z / std::numbers::sqrt2_v<long double>) / 2;
  const long double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi_v<long double>);
  return static_cast<double>(std::abs((reached - tail) / density));
}

TEST(NormalQuantile, AgreesWithErfc) {
  std::vector<double> points = {0.075, 0.925, 0.0749999, 0.9250001, 0.5, 0.5 + 1e-16, 0.4999999};
  for (double e = -300; e < -0.4; e += 0.37) points.push_back(std::pow(10.0, e));
  for (double e = -16; e < -0.4; e += 0.011) points.push_back(1 - std::pow(10.0, e));
  for (double p = 0.001; p < 1; p += 0.00137) points.push_back(p);
  points.push_back(1 - 0x1p-53);
  for (double p : points) {
    const double x = normal_quantile(p);
    EXPECT_LE(quantile_error(p, x), 1e-14 * std::max(1.0, std::abs(x))) << "p = " << p;
  }
}

TEST(NormalQuantile, IsSymmetricAndRises) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  for (double p : {0.25, 0.125, 0x1p-10, 0x1p-20, 0x1p-50}) {
    EXPECT_EQ(normal_quantile(p), -normal_quantile(1 - p)) << "p = " << p;
  }
  double last = normal_quantile(1e-300);
  for (double e = -299; e < 0; e += 0.5) {
    const double x = normal_quantile(std::pow(10.0, e));
    EXPECT_GT(x, last);
    last = x;
  }
}

TEST(Permutation, HasEveryNumberOnce) {
  for (std::size_t n : {0u, 1u, 2u, 3u, 10u, 115u, 1000u}) {
    std::vector<std::size_t> order = permutation({.seed = n}, n);
    ASSERT_EQ(order.size(), n);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(order[i], i);
  }
}

TEST(Permutation, DependsOnTheKeyOnly) {
  const StreamKey key{.seed = 5, .round = 6, .purpose = Purpose::kBucketing};
  EXPECT_EQ(permutation(key, 50), permutation(key, 50));
  EXPECT_NE(permutation(key, 50), permutation({.seed = 5, .round = 7}, 50));
}

TEST(Permutation, EveryOrderIsEquallyLikely) {
  constexpr int kDraws = 24000;
  std::vector<int> cells(24, 0);
  for (int i = 0; i < kDraws; ++i) {
    const auto order = permutation({.seed = 3, .round = static_cast<std::uint32_t>(i)}, 4);
    // The order's number in the factorial system.
    std::size_t rank = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      std::size_t smaller = 0;
      for (std::size_t b = a + 1; b < 4; ++b) smaller += order[b] < order[a] ? 1 : 0;
      rank = rank * (4 - a) + smaller;
    }
    ++cells[rank];
  }
  // Chi-square with 23 degrees: 1e-6 lies beyond 66.
  double chi = 0;
  for (int count : cells) chi += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi, 66);
}

}  // namespace
}  // namespace boba
