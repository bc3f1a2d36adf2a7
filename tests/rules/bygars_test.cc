#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_loss.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(ByGars, OfSmallIntegers) {
  for (const auto& kernels : all_kernels()) {
    QuadraticLoss loss({1}, {0});
    const RoundInput input{.updates = {{2}, {-3}, {0}}, .model = {1}, .eta = 0.25, .oracle = &loss};
    // The gradient at 1 points up: q = 1/8, -1/8, 0.
    const Outcome o = run(*kernels, "bygars(k=1,alpha=0.5)", input);
    EXPECT_EQ(o.out, (Row{0.25}));
    EXPECT_EQ(measure(o.verdict.clients[0].measures, "reputation"), 0.125);
    EXPECT_EQ(measure(o.verdict.clients[1].measures, "reputation"), -0.125);
    EXPECT_EQ(o.verdict.weights, (std::vector<double>{0.0625, -0.125 / 3, 0}));
    EXPECT_TRUE(o.verdict.clients[0].accepted);
    EXPECT_FALSE(o.verdict.clients[1].accepted);
    EXPECT_EQ(o.verdict.clients[1].reason,
              "reputation -0.125: it points away from the server's gradient");
    EXPECT_EQ(o.verdict.clients[2].reason, "no reputation: its update is zero");
    EXPECT_EQ(loss.gradients, 1);
  }
}

TEST(ByGars, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    FullRound full = full_round(n, d, dtype, seed);
    full.input.updates[1] = Row(d, 0.0);
    EXPECT_LT(relative_error(run(kernels, "bygars", full.input).out,
                             oracle::bygars(full.input.updates, 3, 0.05, *full.loss,
                                            full.input.model, full.input.eta)),
              tolerance(dtype) * 10);
    // Large steps, so that each gradient is taken somewhere else.
    EXPECT_LT(relative_error(run(kernels, "bygars(k=5,alpha=20)", full.input).out,
                             oracle::bygars(full.input.updates, 5, 20, *full.loss, full.input.model,
                                            full.input.eta)),
              tolerance(dtype) * 10);
  });
}

TEST(ByGars, OfSmallIntegersWithAnEtaOfItsOwn) {
  for (const auto& kernels : all_kernels()) {
    QuadraticLoss loss({1}, {0});
    const RoundInput input{.updates = {{2}, {-3}, {0}}, .model = {1}, .eta = 0.25, .oracle = &loss};
    // q = 1/4, -1/4, 0: a step of 1/2 times 1/2, which the server takes as 1/4 times 1.
    const Outcome o = run(*kernels, "bygars(k=1,alpha=0.5,eta=0.5)", input);
    EXPECT_EQ(o.out, (Row{1}));
    EXPECT_EQ(measure(o.verdict.clients[0].measures, "reputation"), 0.25);
    EXPECT_EQ(measure(o.verdict.clients[1].measures, "reputation"), -0.25);
    EXPECT_EQ(o.verdict.weights, (std::vector<double>{0.25, -0.5 / 3, 0}));
  }
}

// As in the code of the paper's authors: the clients' rate falls, the model's steps do not.
TEST(ByGars, AnEtaOfItsOwnMakesTheStepThatOfARoundWithThisEta) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    FullRound full = full_round(n, d, dtype, seed);
    const double own = 0.75;
    const Row whole = oracle::bygars(full.input.updates, 5, 20, *full.loss, full.input.model, own);
    for (const double eta : {0.75, 0.125}) {
      full.input.eta = eta;
      Row step = run(kernels, "bygars(k=5,alpha=20,eta=0.75)", full.input).out;
      for (double& each : step) each *= eta / own;
      EXPECT_LT(relative_error(step, whole), tolerance(dtype) * 10) << eta;
    }
  });
}

TEST(ByGars, AnEtaOfItsOwnStillNeedsTheRounds) {
  QuadraticLoss loss({1}, {0});
  EXPECT_EQ(error_of(reference(), "bygars(eta=0.5)",
                     {.updates = {{1}}, .model = {3}, .eta = 0, .oracle = &loss}),
            "this rule probes w - eta * update: learning_rate is 0; it must be positive");
}

TEST(ByGars, AtAFlatPointTheResultIsZero) {
  QuadraticLoss loss({1, 1}, {0, 0});
  loss.flat = true;
  const Outcome o =
      run(reference(), "bygars", {.updates = {{1, 2}, {3, 4}}, .model = {5, 6}, .oracle = &loss});
  EXPECT_EQ(o.out, (Row{0, 0}));
  EXPECT_EQ(o.verdict.notes.at(0), "the server's gradient is zero at step 1: the reputations stay");
}

TEST(ByGars, PassesTheOraclesErrorOn) {
  QuadraticLoss loss({1}, {0});
  loss.fails_at = 2;
  EXPECT_EQ(error_of(reference(), "bygars", {.updates = {{1}}, .model = {3}, .oracle = &loss}),
            "the server's data is out of reach");
}

}  // namespace
}  // namespace boba::test
