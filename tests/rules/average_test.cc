#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(Average, OfSmallIntegers) {
  for (const auto& kernels : all_kernels()) {
    const Outcome o = run(*kernels, "average", {.updates = {{1, 2}, {3, 4}, {5, 12}, {-1, -2}}});
    EXPECT_EQ(o.out, (Row{2, 4}));
    EXPECT_EQ(o.verdict.weights, (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
    EXPECT_EQ(o.verdict.accepted(), 4U);
    EXPECT_EQ(o.verdict.clients[2].reason, "one of the 4 that are averaged");
  }
}

TEST(Average, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const RoundInput input{.updates = rounded(random_rows(n, d, seed), dtype), .dtype = dtype};
    EXPECT_LT(relative_error(run(kernels, "average", input).out, oracle::mean(input.updates)),
              tolerance(dtype));
  });
}

TEST(Average, SaysThatItToleratesNobody) {
  const Outcome o = run(reference(), "average", {.updates = {{1}}});
  ASSERT_EQ(o.verdict.notes.size(), 1U);
  EXPECT_EQ(o.verdict.notes[0], "average tolerates no Byzantine client");
}

}  // namespace
}  // namespace boba::test
