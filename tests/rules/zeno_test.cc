#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_loss.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(Zeno, OfSmallIntegers) {
  for (const auto& kernels : all_kernels()) {
    QuadraticLoss loss({1}, {-1});
    // Losses 1/2, 1/2; with the price of the step 1/2 + 4/2 and 1/2.
    const RoundInput input{.updates = {{2}, {0}}, .model = {0}, .eta = 1, .oracle = &loss};
    const Outcome o = run(*kernels, "zeno(f=1,rho=0.5)", input);
    EXPECT_EQ(o.out, (Row{0}));
    EXPECT_EQ(measure(o.verdict.clients[0].measures, "score"), 2.5);
    EXPECT_EQ(measure(o.verdict.clients[0].measures, "loss"), 0.5);
    EXPECT_EQ(measure(o.verdict.clients[0].measures, "step"), 2);
    EXPECT_EQ(run(*kernels, "zeno(f=1,rho=0)", input).out, (Row{2})) << "ties: the lower index";
  }
}

TEST(Zeno, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const FullRound full = full_round(n, d, dtype, seed);
    for (double rho : {5e-4, 30.0}) {
      const Row expected = oracle::zeno(full.input.updates, n / 3, rho, *full.loss,
                                        full.input.model, full.input.eta);
      const std::string spec = rho == 30 ? "zeno(f=" + std::to_string(n / 3) + ",rho=30)"
                                         : "zeno(f=" + std::to_string(n / 3) + ")";
      EXPECT_LT(relative_error(run(kernels, spec, full.input).out, expected), tolerance(dtype));
    }
  });
}

TEST(Zeno, PassesTheOraclesErrorOn) {
  QuadraticLoss loss({1}, {0});
  loss.fails_at = 1;
  EXPECT_EQ(
      error_of(reference(), "zeno(f=1)", {.updates = {{1}, {2}}, .model = {0}, .oracle = &loss}),
      "the server's data is out of reach");
}

TEST(Zeno, RefusesWhatCannotBeComputed) {
  QuadraticLoss loss({1}, {0});
  EXPECT_EQ(
      error_of(reference(), "zeno(f=3)", {.updates = {{1}, {2}}, .model = {0}, .oracle = &loss}),
      "zeno needs n - f >= 1; got n=2, f=3");
}

}  // namespace
}  // namespace boba::test
