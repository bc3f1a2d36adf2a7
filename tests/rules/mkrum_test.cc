#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

const Rows kLine = {{0}, {1}, {2}, {10}, {3}};

TEST(MultiKrum, OfSmallIntegers) {
  for (const auto& kernels : all_kernels()) {
    const Outcome o = run(*kernels, "mkrum(f=1)", {.updates = kLine});
    EXPECT_EQ(o.out, (Row{1.5}));
    EXPECT_EQ(o.verdict.weights, (std::vector<double>{0.25, 0.25, 0.25, 0, 0.25}));
    EXPECT_EQ(o.verdict.clients[3].reason, "rejected: score 113 is not among the 4 smallest of 5");
    EXPECT_EQ(o.verdict.clients[0].reason, "kept: score 5 is among the 4 smallest of 5");
    EXPECT_EQ(measure(o.verdict.clients[3].measures, "distance"), 8.5);
    EXPECT_EQ(run(*kernels, "mkrum(f=1,m=2)", {.updates = kLine}).out, (Row{1.5}));
    EXPECT_EQ(run(*kernels, "mkrum(f=1,m=1)", {.updates = kLine}).out, (Row{1}));
  }
}

TEST(MultiKrum, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const RoundInput input{.updates = rounded(random_rows(n, d, seed), dtype), .dtype = dtype};
    for (std::size_t f : {std::size_t{1}, n / 4, n - 3}) {
      const Outcome o = run(kernels, "mkrum(f=" + std::to_string(f) + ")", input);
      EXPECT_LT(relative_error(o.out, oracle::mkrum(input.updates, n - f - 2, n - f)),
                tolerance(dtype));
    }
    EXPECT_LT(relative_error(run(kernels, "mkrum(f=1,m=3,neighbours=4)", input).out,
                             oracle::mkrum(input.updates, 4, 3)),
              tolerance(dtype));
  });
}

TEST(MultiKrum, RefusesWhatCannotBeComputed) {
  EXPECT_EQ(error_of(reference(), "mkrum(f=1)", {.updates = {{1}, {2}, {3}}}),
            "mkrum needs n - f - 2 >= 1; got n=3, f=1");
  EXPECT_EQ(error_of(reference(), "mkrum(f=1,m=6)", {.updates = kLine}),
            "mkrum needs m <= n; got m=6, n=5");
  EXPECT_EQ(error_of(reference(), "mkrum(f=5,neighbours=1)", {.updates = kLine}),
            "mkrum needs n - f >= 1; got n=5, f=5");
}

TEST(MultiKrum, WarnsWhereItAveragesTooMany) {
  const Outcome o = run(reference(), "mkrum(f=1,m=5)", {.updates = kLine});
  ASSERT_EQ(o.verdict.warnings.size(), 1U);
  EXPECT_EQ(o.verdict.warnings[0], "m=5 averages more than the n - f = 4 honest clients");
}

TEST(MultiKrum, WithMOneIsKrum) {
  const RoundInput input{.updates = random_rows(12, 9, 3)};
  EXPECT_EQ(run(reference(), "mkrum(f=3,m=1)", input).out,
            run(reference(), "krum(f=3)", input).out);
}

}  // namespace
}  // namespace boba::test
