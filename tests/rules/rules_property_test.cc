#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "boba/kernels/cpu/cpu.h"
#include "boba/rules/registry.h"
#include "tests/support/rules_cases.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

class Property : public testing::TestWithParam<RuleCase> {};

TEST_P(Property, TheOrderOfClientsDoesNotMatter) {
  if (GetParam().ordered) return;
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      const FullRound full = full_round(14, 9, dtype, 21);
      std::vector<std::size_t> order = {7, 2, 13, 0, 5, 9, 1, 12, 3, 11, 4, 10, 6, 8};
      const Outcome a = run(*kernels, GetParam().spec(3), full.input);
      const Outcome b = run(*kernels, GetParam().spec(3),
                            full.input.with_updates(permuted(full.input.updates, order)));
      EXPECT_LT(relative_error(b.out, a.out), tolerance(dtype));
      for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_EQ(b.verdict.clients[i].accepted, a.verdict.clients[order[i]].accepted);
        EXPECT_NEAR(b.verdict.clients[i].weight.value_or(0),
                    a.verdict.clients[order[i]].weight.value_or(0), tolerance(dtype));
      }
    }
  }
}

// Whatever the rule, a verdict names clients that sent the same update.
TEST_P(Property, NamesCopies) {
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      FullRound full = full_round(14, 9, dtype, 25);
      for (const ClientVerdict& client :
           run(*kernels, GetParam().spec(3), full.input).verdict.clients) {
        EXPECT_FALSE(client.copy_of) << client.index;
      }
      full.input.updates[9] = full.input.updates[2];
      full.input.updates[12] = full.input.updates[2];
      full.input.updates[0][4] = kNaN;  // refused: positions are not rows
      const Verdict verdict = run(*kernels, GetParam().spec(3), full.input).verdict;
      for (const ClientVerdict& client : verdict.clients) {
        const bool copy = client.index == 9 || client.index == 12;
        EXPECT_EQ(client.copy_of, copy ? std::optional<std::size_t>(2) : std::nullopt);
      }
      EXPECT_EQ(std::count(verdict.notes.begin(), verdict.notes.end(),
                           "3 clients sent the same update, or nearly the same: 2, 9, 12"),
                1);
    }
  }
}

TEST_P(Property, ShiftsWithItsInput) {
  if (!GetParam().traits.shifts) return;
  for (const auto& kernels : all_kernels()) {
    for (double far : {1.0, 100.0}) {
      const FullRound full = full_round(14, 9, DType::kFloat64, 22);
      const Row by = scaled(random_rows(1, 9, 5), far)[0];
      const Row a = run(*kernels, GetParam().spec(3), full.input).out;
      const Row b = run(*kernels, GetParam().spec(3),
                        full.input.with_updates(shifted(full.input.updates, by)))
                        .out;
      EXPECT_LT(norm(plus(plus(b, by, -1), a, -1)), 1e-8 * far);
    }
  }
}

TEST_P(Property, ScalesWithItsInput) {
  if (!GetParam().traits.scales) return;
  for (const auto& kernels : all_kernels()) {
    for (double factor : {0x1p-40, 3.0, 0x1p60}) {
      const FullRound full = full_round(14, 9, DType::kFloat64, 23);
      RoundInput larger = full.input;
      larger.updates = scaled(larger.updates, factor);
      larger.server = scaled(larger.server, factor);
      const Row a = run(*kernels, GetParam().spec(3), full.input).out;
      const Row b = run(*kernels, GetParam().spec(3), larger).out;
      EXPECT_LT(relative_error(b, scaled({a}, factor)[0]), 1e-9) << factor;
    }
  }
}

TEST_P(Property, ThreadsDoNotChangeABit) {
  for (DType dtype : kDTypes) {
    const FullRound full = full_round(17, 10000, dtype, 24);
    const auto one = make_cpu_kernels({.threads = 1});
    const Outcome a = run(*one, GetParam().spec(3), full.input);
    for (int threads : {2, 3}) {
      const auto more = make_cpu_kernels({.threads = threads, .grain = 1});
      const Outcome b = run(*more, GetParam().spec(3), full.input);
      EXPECT_EQ(b.out, a.out) << threads;
      EXPECT_EQ(b.verdict.weights, a.verdict.weights) << threads;
    }
    EXPECT_EQ(run(*one, GetParam().spec(3), full.input).out, a.out) << "a second time";
  }
}

TEST_P(Property, WeightsGiveTheResult) {
  for (const auto& kernels : all_kernels()) {
    const FullRound full = full_round(12, 8, DType::kFloat64, 25);
    const Outcome o = run(*kernels, GetParam().spec(2), full.input);
    EXPECT_EQ(o.verdict.updates, 12U);
    EXPECT_EQ(o.verdict.length, 8U);
    EXPECT_EQ(o.verdict.classes, 3U);
    EXPECT_EQ(o.verdict.clients.size(), 12U);
    for (const ClientVerdict& client : o.verdict.clients) EXPECT_FALSE(client.reason.empty());
    if (!o.verdict.weighted) continue;
    Row sum(8, 0.0);
    for (std::size_t i = 0; i < 12; ++i) {
      sum = plus(sum, full.input.updates[i], o.verdict.weights[i]);
    }
    for (std::size_t z = 0; z < 3; ++z) {
      sum = plus(sum, full.input.server[z], o.verdict.server_weights[z]);
    }
    EXPECT_LT(relative_error(o.out, sum), 1e-12);
  }
}

TEST_P(Property, VerdictsCarryACanonicalName) {
  const FullRound full = full_round(12, 4, DType::kFloat64, 26);
  const std::string name = run(reference(), GetParam().spec(2), full.input).verdict.rule;
  const Result<Aggregator> again = make_aggregator(name);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->spec(), name);
}

INSTANTIATE_TEST_SUITE_P(AllRules, Property, testing::ValuesIn(rule_cases()),
                         [](const auto& rule) { return test_name(rule.param.name()); });

}  // namespace
}  // namespace boba::test
