#include "simulator/partition/dirichlet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "simulator/partition/cut.h"
#include "simulator/partition/gamma.h"
#include "tests/support/partition_deal.h"

namespace boba::testing {
using namespace sim;  // NOLINT
namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <class Draw>
Moments moments(std::uint32_t draws, Draw&& draw) {
  double sum = 0;
  double squares = 0;
  for (std::uint32_t i = 0; i < draws; ++i) {
    const double x = draw(StreamKey{.seed = 3, .client = i, .purpose = Purpose::kPartition});
    sum += x;
    squares += x * x;
  }
  const double mean = sum / draws;
  return {mean, squares / draws - mean * mean};
}

TEST(Gamma, HasTheMeanAndVarianceOfItsShape) {
  constexpr std::uint32_t kDraws = 100'000;
  for (const double shape : {0.3, 0.9, 1.0, 2.5, 40.0}) {
    const Moments got = moments(
        kDraws, [&](const StreamKey& key) { return std::exp(log_gamma_at(key, 0, shape)); });
    // Both are the shape; the fourth central moment is 3 a^2 + 6 a. Five standard errors.
    EXPECT_NEAR(got.mean, shape, 5 * std::sqrt(shape / kDraws)) << shape;
    EXPECT_NEAR(got.variance, shape, 5 * std::sqrt((2 * shape * shape + 6 * shape) / kDraws))
        << shape;
  }
}

TEST(Gamma, TinyShapesStayFiniteInLogarithms) {
  // For small a, a * log(Gamma(a)) is about -Exponential(1): mean -1, variance 1.
  constexpr std::uint32_t kDraws = 20'000;
  for (const double shape : {1e-3, 1e-6, 1e-12}) {
    const Moments got =
        moments(kDraws, [&](const StreamKey& key) { return shape * log_gamma_at(key, 0, shape); });
    EXPECT_NEAR(got.mean, -1, 5 / std::sqrt(kDraws) + shape);
    EXPECT_NEAR(got.variance, 1, 5 * std::sqrt(8.0 / kDraws) + shape);
  }
}

TEST(Gamma, DirichletHasItsMeansAndVariances) {
  // Mean p = a_z / A, variance p (1 - p) / (A + 1).
  constexpr std::uint32_t kDraws = 50'000;
  const std::vector<double> shapes = {0.2, 1.0, 0.0, 2.8};
  for (std::size_t z = 0; z < shapes.size(); ++z) {
    const double p = shapes[z] / 4;
    const double variance = p * (1 - p) / 5;
    const Moments got = moments(
        kDraws, [&](const StreamKey& key) { return std::exp(log_dirichlet(key, shapes)[z]); });
    EXPECT_NEAR(got.mean, p, 5 * std::sqrt(variance / kDraws));
    EXPECT_NEAR(got.variance, variance, 0.03 * variance);
  }
}

TEST(Gamma, DirichletSumsToOne) {
  for (const double alpha : {1e-6, 0.01, 1.0, 1e6}) {
    for (std::uint32_t client = 0; client < 50; ++client) {
      double sum = 0;
      const std::vector<double> shapes(10, alpha / 10);
      for (const double x : log_dirichlet({.seed = 1, .client = client}, shapes)) {
        sum += std::exp(x);
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(Dirichlet, CutsEveryClassByTheDraws) {
  // What the page says, done by hand: columns of the draws, normalised.
  const std::vector<std::size_t> counts = {30'000, 10'000, 20'000};
  const Labels labels = mixed_labels(counts, 8);
  const auto partition = deal("dirichlet(alpha=2)", labels, 3, 12, 4);
  ASSERT_TRUE(partition);
  expect_complete(*partition, 12, 60'000);
  const Table table = label_table(*partition, labels, 3);
  std::vector<std::vector<double>> draws;
  std::vector<double> sums(3, 0.0);
  for (std::uint32_t i = 0; i < 12; ++i) {
    const std::vector<double> shapes = {1.0, 2.0 / 6, 4.0 / 6};
    const StreamKey key{.seed = 4, .client = i, .purpose = Purpose::kPartition};
    std::vector<double>& mine = draws.emplace_back();
    for (const double x : log_dirichlet(key, shapes)) mine.push_back(std::exp(x));
    for (std::size_t z = 0; z < 3; ++z) sums[z] += mine[z];
  }
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t z = 0; z < 3; ++z) {
      const double share = draws[i][z] / sums[z] * static_cast<double>(counts[z]);
      EXPECT_NEAR(static_cast<double>(table[i][z]), share, 1) << i << " " << z;
    }
  }
}

// The share of its largest class, averaged over the clients.
double concentration(std::string_view spec) {
  const Labels labels = mixed_labels(std::vector<std::size_t>(10, 6000), 1);
  double sum = 0;
  const auto partition = deal(spec, labels, 10, 100, 2);
  for (const auto& row : label_table(*partition, labels, 10)) {
    double all = 0;
    for (const std::size_t count : row) all += static_cast<double>(count);
    sum += static_cast<double>(*std::max_element(row.begin(), row.end())) / all;
  }
  return sum / 100;
}

TEST(Dirichlet, SmallAlphaIsOneClassAndLargeAlphaIsIid) {
  const double sharp = concentration("dirichlet(alpha=0.01)");
  const double middle = concentration("dirichlet(alpha=5)");
  const double flat = concentration("dirichlet(alpha=100000)");
  EXPECT_GT(sharp, 0.95);
  EXPECT_LT(middle, 0.6);
  EXPECT_GT(middle, 0.2);
  EXPECT_LT(flat, 0.11);
}

TEST(Dirichlet, NobodyStarves) {
  // Few examples, sharp draws: some clients draw a piece shorter than one example.
  const Labels labels = mixed_labels({30, 30}, 1);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto partition = deal("dirichlet(alpha=0.5)", labels, 2, 40, seed);
    ASSERT_TRUE(partition);
    expect_complete(*partition, 40, 60);
  }
}

TEST(Cut, RoundsEndsAndLosesNothing) {
  using Ends = std::vector<std::size_t>;
  EXPECT_EQ(cut(10, std::vector<double>{1, 1, 1}), (Ends{3, 7, 10}));
  EXPECT_EQ(cut(10, std::vector<double>{0, 1, 0}), (Ends{0, 10, 10}));
  EXPECT_EQ(cut(0, std::vector<double>{1, 2}), (Ends{0, 0}));
  EXPECT_EQ(cut(1, std::vector<double>{1e-300, 1e-300}), (Ends{1, 1}));
  // Weights that are no exact binary fractions.
  std::vector<double> weights(1000);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = uniform_at({}, i) * 0.1;
  const Ends ends = cut(123'457, weights);
  EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
  EXPECT_EQ(ends.back(), 123'457u);
}

}  // namespace
}  // namespace boba::testing
