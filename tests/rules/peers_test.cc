#include <gtest/gtest.h>

#include <cmath>

#include "boba/rules/registry.h"
#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

// Faults that were seen in other libraries of this kind. Each stays out.

TEST(Peers, OneNaNOfFiveSpoilsNothing) {
  // Medians and Krum elsewhere return NaN, or elect the client that sent it.
  Rows rows = random_rows(5, 6, 1);
  rows[3][2] = kNaN;
  for (const auto& kernels : all_kernels()) {
    for (const RuleCase& rule : rule_cases()) {
      FullRound full = full_round(5, 6, DType::kFloat32, 2);
      full.input.updates = rows;
      const Shape shape = {.clients = 4, .classes = 3, .length = 6, .refused = 1, .server = true};
      if (rule.ordered && !make_aggregator(rule.spec(1))->admits(shape)) continue;  // few buckets
      const Outcome o = run(*kernels, rule.spec(1), full.input);
      for (double x : o.out) EXPECT_TRUE(std::isfinite(x)) << rule.name();
      EXPECT_FALSE(o.verdict.clients[3].accepted) << rule.name();
    }
  }
}

TEST(Peers, KrumDoesNotElectNaN) {
  // max(0, NaN) is 0: with the usual clamp the row with NaN has the lowest score.
  for (const auto& kernels : all_kernels()) {
    for (double bad : {kNaN, kInfinity, -kInfinity, 1e300}) {
      const Outcome o =
          run(*kernels, "krum(f=1)", {.updates = {{1, 1}, {bad, 0}, {2, 1}, {3, 1}, {4, 2}}});
      EXPECT_FALSE(o.verdict.clients[1].accepted);
      EXPECT_EQ(o.verdict.weights[1], 0);
    }
  }
}

TEST(Peers, AWeightOfZeroIsNotMultipliedWithNaN) {
  // BLAS gives 0 * NaN = NaN: rows that have no weight are not read.
  const Outcome o =
      run(*all_kernels().back(), "server", {.updates = {{kNaN, 1}}, .server = {{1, 2}}});
  EXPECT_EQ(o.out, (Row{1, 2}));
}

TEST(Peers, WeightsOfTheGeometricMedianDoNotCompound) {
  // Elsewhere each iteration multiplies the weights of the last, which ends at one client.
  const Rows rows = random_rows(20, 15, 3);
  const Outcome o = run(reference(), "geomed(tolerance=1e-12)", {.updates = rows});
  EXPECT_LT(oracle::geomed_defect(rows, o.out), 1e-10);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double distance = norm(plus(rows[i], o.out, -1));
    EXPECT_NEAR(o.verdict.weights[i] * distance,
                o.verdict.weights[0] * norm(plus(rows[0], o.out, -1)), 1e-9);
  }
}

TEST(Peers, NobodyBuysWeightBySampleCounts) {
  // Elsewhere the clients' own counts weigh the chosen updates. Here a round has no such field.
  const Outcome o = run(reference(), "mkrum(f=2)", {.updates = random_rows(9, 4, 4)});
  for (const ClientVerdict& client : o.verdict.clients) {
    EXPECT_EQ(*client.weight, client.accepted ? 1.0 / 7 : 0);
  }
}

TEST(Peers, InputsAreNotWrittenTo) {
  // run() compares the updates with what they were.
  for (const RuleCase& rule : rule_cases()) {
    const FullRound full = full_round(12, 30, DType::kFloat32, 6);
    run(*all_kernels().back(), rule.spec(2), full.input);
  }
}

TEST(Peers, ProductsOfLargeFloatsDoNotOverflow) {
  // 3e38 squared leaves the range of float, not that of the sums.
  Rows rows = random_rows(7, 3, 5);
  rows[6] = {1e38, -1e38, 1e38};
  for (const auto& kernels : all_kernels()) {
    for (const char* spec : {"krum(f=1)", "mkrum(f=1)", "geomed", "rage(f=1)", "coomed"}) {
      const Outcome o = run(*kernels, spec, {.updates = rows, .dtype = DType::kFloat32});
      EXPECT_LT(norm(o.out), 10) << spec;
    }
  }
}

}  // namespace
}  // namespace boba::test
