#include <gtest/gtest.h>

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
