#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(Coomed, OfSmallIntegers) {
  const Rows odd = {{1, 9}, {5, 7}, {3, -100}};
  const Rows even = {{1, 8}, {10, 2}, {3, 4}, {2, 1000}};
  for (const auto& kernels : all_kernels()) {
    EXPECT_EQ(run(*kernels, "coomed", {.updates = odd}).out, (Row{3, 7}));
    EXPECT_EQ(run(*kernels, "coomed(even=lower)", {.updates = odd}).out, (Row{3, 7}));
    EXPECT_EQ(run(*kernels, "coomed", {.updates = even}).out, (Row{2.5, 6}));
    EXPECT_EQ(run(*kernels, "coomed(even=lower)", {.updates = even}).out, (Row{2, 4}));
  }
}

TEST(Coomed, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const RoundInput input{.updates = rounded(random_rows(n, d, seed), dtype), .dtype = dtype};
    const Row lower = rounded(oracle::coomed(input.updates, true), dtype);
    EXPECT_EQ(run(kernels, "coomed(even=lower)", input).out, lower);
    EXPECT_LT(
        relative_error(run(kernels, "coomed", input).out, oracle::coomed(input.updates, false)),
        tolerance(dtype));
  });
}

TEST(Coomed, HasNoWeights) {
  const Outcome o = run(reference(), "coomed", {.updates = {{1}, {2}, {3}}});
  EXPECT_FALSE(o.verdict.weighted);
  EXPECT_TRUE(o.verdict.weights.empty());
  EXPECT_FALSE(o.verdict.clients[0].weight.has_value());
  EXPECT_TRUE(o.verdict.clients[0].accepted);
  EXPECT_EQ(o.verdict.clients[0].reason, "one of the 3 whose median is taken in each coordinate");
}

TEST(Coomed, OfOneAndOfTwo) {
  EXPECT_EQ(run(reference(), "coomed", {.updates = {{4, 5}}}).out, (Row{4, 5}));
  EXPECT_EQ(run(reference(), "coomed", {.updates = {{4, 5}, {6, 9}}}).out, (Row{5, 7}));
  EXPECT_EQ(run(reference(), "coomed(even=lower)", {.updates = {{4, 9}, {6, 5}}}).out, (Row{4, 5}));
}

}  // namespace
}  // namespace boba::test
