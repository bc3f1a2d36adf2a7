#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(TrimmedMean, OfSmallIntegers) {
  const Rows rows = {{5, 0}, {1, 4}, {9, 2}, {100, -50}};
  for (const auto& kernels : all_kernels()) {
    const Outcome o = run(*kernels, "trmean(f=1)", {.updates = rows});
    EXPECT_EQ(o.out, (Row{7, 1}));
    EXPECT_FALSE(o.verdict.weighted);
    EXPECT_TRUE(o.verdict.warnings.empty());
    EXPECT_EQ(o.verdict.clients[3].reason,
              "its values count where they are not among the 1 largest or smallest of 4");
  }
}

TEST(TrimmedMean, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const RoundInput input{.updates = rounded(random_rows(n, d, seed), dtype), .dtype = dtype};
    for (std::size_t f : {std::size_t{1}, n / 3, (n - 1) / 2}) {
      const Outcome o = run(kernels, "trmean(f=" + std::to_string(f) + ")", input);
      EXPECT_LT(relative_error(o.out, oracle::trmean(input.updates, f)), tolerance(dtype) * 10);
    }
  });
}

TEST(TrimmedMean, RefusesWhatCannotBeComputed) {
  EXPECT_EQ(error_of(reference(), "trmean(f=2)", {.updates = {{1}, {2}, {3}, {4}}}),
            "trmean needs n >= 2f + 1; got n=4, f=2");
  EXPECT_EQ(run(reference(), "trmean(f=2)", {.updates = {{1}, {2}, {3}, {4}, {9}}}).out, (Row{3}));
}

TEST(TrimmedMean, WithoutFWarns) {
  const Outcome o = run(reference(), "trmean", {.updates = {{1}, {3}}});
  EXPECT_EQ(o.out, (Row{2}));
  ASSERT_EQ(o.verdict.warnings.size(), 1U);
  EXPECT_EQ(o.verdict.warnings[0], "f=0 tolerates no Byzantine client");
}

TEST(TrimmedMean, RefusedRowsCountAsTrimmed) {
  // n=5, f=2, one refused: n=4, f=1.
  const Outcome o = run(reference(), "trmean(f=2)", {.updates = {{1}, {kNaN}, {2}, {4}, {9}}});
  EXPECT_EQ(o.out, (Row{3}));
  EXPECT_EQ(o.verdict.refused, 1U);
}

}  // namespace
}  // namespace boba::test
