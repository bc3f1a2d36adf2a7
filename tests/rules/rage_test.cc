#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(Rage, OfSmallIntegers) {
  const Rows rows = {{0}, {3}, {6}, {15}};
  for (const auto& kernels : all_kernels()) {
    const Outcome o = run(*kernels, "rage(f=1)", {.updates = rows});
    // About the mean 6: tau 36, 9, 0, 81; weights 5/9, 8/9, 1, 0.
    EXPECT_NEAR(o.out[0], 78.0 / 22, 1e-12);
    EXPECT_NEAR(measure(o.verdict.clients[1].measures, "kept"), 8.0 / 9, 1e-12);
    EXPECT_NEAR(measure(o.verdict.clients[0].measures, "tau"), 36, 1e-10);
    EXPECT_EQ(o.verdict.weights[3], 0);
    EXPECT_EQ(o.verdict.clients[3].reason, "removed in step 1: the largest projection then");
    EXPECT_EQ(o.verdict.clients[2].reason, "keeps 1 of its weight after 1 steps");
    EXPECT_EQ(measure(o.verdict.measures, "steps"), 1);
    // As they are: tau 0, 9, 36, 225; weights 1, 24/25, 21/25, 0.
    EXPECT_NEAR(run(*kernels, "rage(f=1,projection=raw)", {.updates = rows}).out[0], 198.0 / 70,
                1e-12);
  }
}

TEST(Rage, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const RoundInput input{.updates = rounded(random_rows(n, d, seed), dtype), .dtype = dtype};
    for (std::size_t steps : {std::size_t{1}, std::size_t{2}, n / 3}) {
      const std::string spec = "rage(f=1,steps=" + std::to_string(steps);
      EXPECT_LT(relative_error(run(kernels, spec + ")", input).out,
                               oracle::rage(input.updates, steps, false), 0.1),
                tolerance(dtype) * 100);
      EXPECT_LT(relative_error(run(kernels, spec + ",projection=raw)", input).out,
                               oracle::rage(input.updates, steps, true), 0.1),
                tolerance(dtype) * 100);
    }
  });
}

TEST(Rage, RawMeansAboutZeroWhateverTheOriginOfTheProducts) {
  const Rows rows = shifted(random_rows(11, 9000, 6), Row(9000, 30.0));
  for (const auto& kernels : all_kernels()) {
    EXPECT_LT(relative_error(run(*kernels, "rage(f=2,projection=raw)", {.updates = rows}).out,
                             oracle::rage(rows, 2, true)),
              1e-9);
  }
}

TEST(Rage, StopsWhereNothingDiffers) {
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      const Outcome o = run(*kernels, "rage(f=3)", {Rows(7, {0.1, 0.2, -7}), dtype});
      EXPECT_LT(relative_error(o.out, {0.1, 0.2, -7}), 1e-6);
      EXPECT_EQ(o.verdict.accepted(), 7U);
      EXPECT_EQ(o.verdict.notes.at(0),
                "stopped after 0 of 3 steps: the clients left do not differ");
    }
  }
}

TEST(Rage, KeepsSomebody) {
  const Outcome o = run(reference(), "rage(f=1,steps=5)", {.updates = {{0}, {8}}});
  EXPECT_EQ(o.out, (Row{4}));
  EXPECT_EQ(o.verdict.notes.at(0),
            "stopped after 0 of 5 steps: one more would have taken the weight of every client");
}

// Two halves of equal rows are as far from their mean: a step would take the weight of all, and
// what rounding leaves of it must not choose a half.
TEST(Rage, KeepsBothHalvesOfATie) {
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const Rows pair = rounded(random_rows(2, 2, seed), dtype);
        for (const std::size_t half : {2, 3}) {
          Rows rows(half, pair[0]);
          rows.insert(rows.end(), half, pair[1]);
          const Outcome o = run(*kernels, "rage(f=2)", {rows, dtype});
          EXPECT_EQ(o.verdict.accepted(), 2 * half) << name(dtype) << ", seed " << seed;
        }
      }
    }
  }
}

TEST(Rage, AManifoldTopEigenvalueIsNoTrouble) {
  // All directions have the same variance: any vector will do, weights must stay sound.
  Rows rows;
  for (std::size_t k = 0; k < 8; ++k) {
    Row up(8, 0.0);
    up[k] = 1;
    rows.push_back(up);
    rows.push_back(scaled({up}, -1)[0]);
  }
  for (const auto& kernels : all_kernels()) {
    const Outcome o = run(*kernels, "rage(f=3)", {.updates = rows});
    double sum = 0;
    for (double w : o.verdict.weights) {
      EXPECT_GE(w, 0);
      sum += w;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_LT(norm(o.out), 1);
  }
}

TEST(Rage, WarnsWithoutAMajority) {
  const Outcome o = run(reference(), "rage(f=2)", {.updates = {{1}, {2}, {4}}});
  EXPECT_EQ(o.verdict.warnings.at(0), "most clients must be honest, n > 2f; got n=3, f=2");
  const Outcome zero = run(reference(), "rage", {.updates = {{1}, {2}, {6}}});
  EXPECT_EQ(zero.out, (Row{3}));
  EXPECT_EQ(zero.verdict.warnings.at(0), "f=0 tolerates no Byzantine client");
}

}  // namespace
}  // namespace boba::test
