#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_loss.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(SelfRej, OfSmallIntegers) {
  for (const auto& kernels : all_kernels()) {
    QuadraticLoss loss({1}, {-1});
    // Losses at -1, -2, 1: 0, 1/2, 2.
    const RoundInput input{.updates = {{1}, {2}, {-1}}, .model = {0}, .eta = 1, .oracle = &loss};
    const Outcome o = run(*kernels, "selfrej(f=1)", input);
    EXPECT_EQ(o.out, (Row{1.5}));
    EXPECT_EQ(measure(o.verdict.clients[1].measures, "loss"), 0.5);
    EXPECT_EQ(o.verdict.clients[2].reason, "rejected: loss 2 is not among the 2 smallest of 3");
    EXPECT_EQ(loss.losses, 3);
    EXPECT_TRUE(o.verdict.warnings.empty());
  }
}

TEST(SelfRej, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const FullRound full = full_round(n, d, dtype, seed);
    const Row expected =
        oracle::selfrej(full.input.updates, n / 3, *full.loss, full.input.model, full.input.eta);
    const Outcome o = run(kernels, "selfrej(f=" + std::to_string(n / 3) + ")", full.input);
    EXPECT_LT(relative_error(o.out, expected), tolerance(dtype));
  });
}

TEST(SelfRej, NotANumberIsInfinitelyBad) {
  QuadraticLoss loss({1}, {0});
  loss.nan_above = 10;
  const RoundInput input{.updates = {{1}, {100}, {2}}, .model = {0}, .eta = 1, .oracle = &loss};
  const Outcome o = run(reference(), "selfrej(f=1)", input);
  EXPECT_EQ(o.out, (Row{1.5}));
  EXPECT_EQ(measure(o.verdict.clients[1].measures, "loss"), kInfinity);
  const Outcome none = run(reference(), "selfrej", input);
  EXPECT_EQ(none.verdict.warnings.back(),
            "the loss is not finite for 1 of the accepted clients: it cannot tell them apart");
}

TEST(SelfRej, PassesTheOraclesErrorOn) {
  QuadraticLoss loss({1}, {0});
  loss.fails_at = 2;
  EXPECT_EQ(
      error_of(reference(), "selfrej(f=1)", {.updates = {{1}, {2}}, .model = {0}, .oracle = &loss}),
      "the server's data is out of reach");
}

TEST(SelfRej, RefusesWhatCannotBeComputed) {
  QuadraticLoss loss({1}, {0});
  EXPECT_EQ(
      error_of(reference(), "selfrej(f=2)", {.updates = {{1}, {2}}, .model = {0}, .oracle = &loss}),
      "selfrej needs n - f >= 1; got n=2, f=2");
}

TEST(SelfRej, WarnsWithoutAMajority) {
  QuadraticLoss loss({1}, {0});
  const Outcome o =
      run(reference(), "selfrej(f=1)", {.updates = {{1}, {2}}, .model = {0}, .oracle = &loss});
  ASSERT_EQ(o.verdict.warnings.size(), 1U);
  EXPECT_EQ(o.verdict.warnings[0], "most clients must be honest, n > 2f; got n=2, f=1");
}

}  // namespace
}  // namespace boba::test
