#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

const Rows kLine = {{0}, {1}, {2}, {10}, {3}};

TEST(Krum, OfSmallIntegers) {
  for (const auto& kernels : all_kernels()) {
    const Outcome o = run(*kernels, "krum(f=1)", {.updates = kLine});
    EXPECT_EQ(o.out, (Row{1})) << "scores 5 2 2 113 5: the tie goes to the lower index";
    EXPECT_EQ(o.verdict.weights, (std::vector<double>{0, 1, 0, 0, 0}));
    const double scores[] = {5, 2, 2, 113, 5};
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(measure(o.verdict.clients[i].measures, "score"), scores[i]);
      EXPECT_EQ(o.verdict.clients[i].accepted, i == 1);
    }
    EXPECT_EQ(measure(o.verdict.clients[3].measures, "distance"), 9);
    EXPECT_EQ(o.verdict.clients[1].reason, "chosen: its score 2 is the lowest");
    EXPECT_EQ(o.verdict.clients[2].reason, "an earlier client has the same lowest score 2");
    EXPECT_EQ(o.verdict.clients[3].reason, "its score 113 is above the lowest, 2");
    EXPECT_TRUE(o.verdict.warnings.empty());
  }
}

TEST(Krum, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const RoundInput input{.updates = rounded(random_rows(n, d, seed), dtype), .dtype = dtype};
    for (std::size_t f : {std::size_t{1}, n / 4, n - 3}) {
      const Outcome o = run(kernels, "krum(f=" + std::to_string(f) + ")", input);
      EXPECT_EQ(o.out, rounded(oracle::krum(input.updates, n - f - 2), dtype));
    }
    EXPECT_EQ(run(kernels, "krum(f=1,neighbours=" + std::to_string(n - 2) + ")", input).out,
              rounded(oracle::krum(input.updates, n - 2), dtype));
  });
}

// Scores are sums in no particular order; no order may show in them, nor sizes at the ends of the
// range.
TEST(Krum, ScoresDoNotDependOnTheOrderOfClients) {
  const std::size_t n = 40;
  for (const double size : {1.0, 1e-150, 1e140}) {
    Rows rows = random_rows(n, 3, 7);
    for (std::size_t i = 0; i < n; ++i) {
      for (double& x : rows[i]) x *= size * std::pow(10.0, static_cast<double>(i % 7));
    }
    Rows reversed(rows.rbegin(), rows.rend());
    for (const auto& kernels : all_kernels()) {
      const Outcome a = run(*kernels, "krum(f=5)", {.updates = rows, .dtype = DType::kFloat64});
      const Outcome b = run(*kernels, "krum(f=5)", {.updates = reversed, .dtype = DType::kFloat64});
      EXPECT_EQ(a.out, b.out);
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> distances;
        for (const Row& row : rows) {
          double sum = 0;
          for (std::size_t k = 0; k < 3; ++k) sum += std::pow((row[k] - rows[i][k]) / size, 2);
          distances.push_back(sum);
        }
        std::sort(distances.begin(), distances.end());
        const double expected = std::accumulate(distances.begin(), distances.begin() + 34, 0.0);
        const double score = measure(a.verdict.clients[i].measures, "score");
        EXPECT_NEAR(score / size / size, expected, 1e-8 * expected);
        EXPECT_EQ(measure(b.verdict.clients[n - 1 - i].measures, "score"), score);
      }
    }
  }
}

TEST(Krum, RefusesWhatCannotBeComputed) {
  EXPECT_EQ(error_of(reference(), "krum(f=1)", {.updates = {{1}, {2}, {3}}}),
            "krum needs n - f - 2 >= 1; got n=3, f=1");
  EXPECT_EQ(error_of(reference(), "krum(f=1,neighbours=3)", {.updates = {{1}, {2}, {3}}}),
            "krum with neighbours=3 needs n >= 4; got n=3");
}

TEST(Krum, WarnsWhereItsGuaranteeIsMissed) {
  const Outcome o = run(reference(), "krum(f=2)", {.updates = kLine});
  ASSERT_EQ(o.verdict.warnings.size(), 1U);
  EXPECT_EQ(o.verdict.warnings[0], "the guarantee needs n >= 2f + 3; got n=5, f=2");
  const Outcome zero = run(reference(), "krum", {.updates = kLine});
  ASSERT_EQ(zero.verdict.warnings.size(), 1U);
  EXPECT_EQ(zero.verdict.warnings[0], "f=0 tolerates no Byzantine client");
}

TEST(Krum, SpreadFarFromTheOriginIsSeen) {
  // A common component 1e3 times the spread: distances from raw products in float would be lost.
  const Rows rows = rounded(shifted(random_rows(9, 50, 5), Row(50, 1000.0)), DType::kFloat32);
  for (const auto& kernels : all_kernels()) {
    EXPECT_EQ(run(*kernels, "krum(f=2)", {.updates = rows, .dtype = DType::kFloat32}).out,
              oracle::krum(rows, 5));
  }
}

}  // namespace
}  // namespace boba::test
