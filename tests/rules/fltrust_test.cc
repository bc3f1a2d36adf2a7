#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(FlTrust, OfSmallIntegers) {
  for (const auto& kernels : all_kernels()) {
    const Outcome o =
        run(*kernels, "fltrust",
            {.updates = {{6, 8}, {5, 0}, {-3, -4}, {4, -3}, {0, 0}}, .server = {{3, 4}}});
    // Trusts 1, 3/5, 0, 0, 0: ((3, 4) + 3/5 (5, 0)) / (8/5).
    EXPECT_LT(relative_error(o.out, {3.75, 2.5}), 1e-14);
    EXPECT_NEAR(measure(o.verdict.clients[1].measures, "trust"), 0.6, 1e-15);
    EXPECT_NEAR(measure(o.verdict.clients[2].measures, "cosine"), -1, 1e-15);
    EXPECT_EQ(measure(o.verdict.clients[0].measures, "norm"), 10);
    EXPECT_EQ(o.verdict.clients[0].reason, "trust 1: its cosine with the server's gradient");
    EXPECT_EQ(o.verdict.clients[2].reason, "no trust: its cosine with the server's gradient is -1");
    EXPECT_EQ(o.verdict.clients[4].reason, "no trust: its update is zero");
    EXPECT_EQ(o.verdict.accepted(), 2U);
    EXPECT_EQ(measure(o.verdict.measures, "server_norm"), 5);
  }
}

TEST(FlTrust, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    FullRound full = full_round(n, d, dtype, seed);
    Row server(d, 0.0);
    for (std::size_t z = 0; z < 3; ++z) {
      server = plus(server, full.input.server[z], full.input.counts[z] / 100);
    }
    EXPECT_LT(relative_error(run(kernels, "fltrust", full.input).out,
                             oracle::fltrust(full.input.updates, server)),
              tolerance(dtype) * 10);
    full.input.whole = random_rows(1, d, seed + 50).front();
    EXPECT_LT(relative_error(run(kernels, "fltrust", full.input).out,
                             oracle::fltrust(full.input.updates, full.input.whole)),
              tolerance(dtype) * 10)
        << "the whole server's gradient counts where it is given";
  });
}

TEST(FlTrust, TheWholeGradientIsEnough) {
  const Outcome o = run(reference(), "fltrust", {.updates = {{2, 0}}, .whole = {3, 0}});
  EXPECT_EQ(o.out, (Row{3, 0}));
}

TEST(FlTrust, SaysWhenTheResultIsZero) {
  const Outcome nobody = run(reference(), "fltrust", {.updates = {{-1}, {0}}, .server = {{2}}});
  EXPECT_EQ(nobody.out, (Row{0}));
  EXPECT_EQ(nobody.verdict.warnings.at(0), "no client is trusted: the result is the zero update");
  const Outcome flat = run(reference(), "fltrust", {.updates = {{1}, {2}}, .server = {{0}}});
  EXPECT_EQ(flat.out, (Row{0}));
  EXPECT_EQ(flat.verdict.warnings.at(0),
            "the server's gradient is zero: the result is the zero update");
}

TEST(FlTrust, NeedsTheServer) {
  EXPECT_EQ(error_of(reference(), "fltrust", {.updates = {{1}}}),
            "fltrust needs the server's gradient; got none");
}

TEST(FlTrust, SizeDoesNotBuyInfluence) {
  const Rows rows = random_rows(6, 5, 2);
  const Rows server = random_rows(1, 5, 3);
  Rows larger = rows;
  larger[2] = scaled({rows[2]}, 1e25)[0];
  for (DType dtype : kDTypes) {
    EXPECT_LT(relative_error(run(reference(), "fltrust", {larger, dtype, server}).out,
                             run(reference(), "fltrust", {rows, dtype, server}).out),
              1e-6);
  }
}

}  // namespace
}  // namespace boba::test
