#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(BucketedKrum, IsTheComposition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const RoundInput input{.updates = random_rows(n + 5, d, seed), .dtype = dtype};
    EXPECT_EQ(run(kernels, "b-krum(f=1)", input).out,
              run(kernels, "bucketing | krum(f=1)", input).out);
    EXPECT_EQ(run(kernels, "b-mkrum(f=1)", input).out,
              run(kernels, "bucketing(s=2) | mkrum(f=1)", input).out);
    if (n >= 13) {
      EXPECT_EQ(run(kernels, "b-krum(f=1,s=3)", input).out,
                run(kernels, "bucketing(s=3) | krum(f=1)", input).out);
    }
  });
}

TEST(BucketedKrum, KeepsItsName) {
  const Outcome o = run(reference(), "b-krum( f = 1 , s = 2 )", {.updates = random_rows(9, 2, 1)});
  EXPECT_EQ(o.verdict.rule, "b-krum(f=1)");
  EXPECT_EQ(run(reference(), "b-mkrum(f=1,s=1)", {.updates = random_rows(9, 2, 1)}).verdict.rule,
            "b-mkrum(f=1,s=1)");
}

TEST(BucketedKrum, ChoosesWholeBuckets) {
  const Outcome o = run(reference(), "b-krum(f=1)", {.updates = random_rows(10, 6, 4)});
  std::size_t chosen = 0;
  for (const ClientVerdict& client : o.verdict.clients) {
    chosen += client.accepted ? 1 : 0;
    EXPECT_EQ(*client.weight, client.accepted ? 0.5 : 0);
  }
  EXPECT_EQ(chosen, 2U);
}

TEST(BucketedKrum, RefusesTooFewBuckets) {
  EXPECT_EQ(error_of(reference(), "b-krum(f=1)", {.updates = random_rows(7, 2, 1)}),
            "krum needs n - f - 2 >= 1; got n=3, f=1");
  EXPECT_EQ(error_of(reference(), "b-mkrum(f=1,s=9)", {.updates = random_rows(7, 2, 1)}),
            "bucketing needs n >= s; got n=7, s=9");
}

TEST(BucketedKrum, RunsWhereThePaperDoes) {
  // AG-News: 214 clients, 107 buckets, f = 60. A missed guarantee is a warning.
  const Outcome o = run(*all_kernels().back(), "b-krum(f=60)", {.updates = random_rows(214, 3, 1)});
  EXPECT_EQ(o.verdict.warnings.at(0), "the guarantee needs n >= 2f + 3; got n=107, f=60");
}

}  // namespace
}  // namespace boba::test
