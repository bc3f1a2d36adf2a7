#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(ServerMix, OfSmallIntegers) {
  for (const auto& kernels : all_kernels()) {
    const RoundInput input{.updates = {{4}, {8}}, .server = {{20}, {40}}, .counts = {1, 9}};
    const Outcome o = run(*kernels, "average | server-mix(lambda=0.25)", input);
    EXPECT_EQ(o.out, (Row{12}));
    EXPECT_EQ(o.verdict.weights, (std::vector<double>{0.375, 0.375}));
    EXPECT_EQ(o.verdict.server_weights, (std::vector<double>{0.125, 0.125}));
    EXPECT_EQ(o.verdict.notes.back(),
              "server-mix: the rule's result counts 0.75, the server's gradients 0.25");
    EXPECT_EQ(run(*kernels, "average | server-mix", input).out, (Row{18}));
    EXPECT_EQ(run(*kernels, "coomed | server-mix", input).out, (Row{18}));
    EXPECT_EQ(run(*kernels, "server | server-mix", input).out, (Row{30}));
  }
}

TEST(ServerMix, IsItsDefinitionAfterEveryRule) {
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      const FullRound full = full_round(13, 11, dtype, 5);
      const Row server = oracle::mean(rounded(full.input.server, dtype));
      for (const RuleCase& rule : rule_cases()) {
        const std::string spec = rule.spec(2);
        const Row alone = run(*kernels, spec, full.input).out;
        for (const char* lambda : {"0", "0.25", "1"}) {
          const double share = std::stod(lambda);
          const Row expected = plus(scaled({alone}, 1 - share)[0], server, share);
          const std::string mixed = spec + " | server-mix(lambda=" + lambda + ")";
          EXPECT_LT(relative_error(run(*kernels, mixed, full.input).out, expected),
                    tolerance(dtype))
              << mixed;
        }
      }
    }
  }
}

TEST(ServerMix, Stacks) {
  const RoundInput input{.updates = {{8}}, .server = {{0}}};
  EXPECT_EQ(run(reference(), "average | server-mix | server-mix", input).out, (Row{2}));
  EXPECT_EQ(run(reference(), "coomed | server-mix | server-mix", input).out, (Row{2}));
}

TEST(ServerMix, NeedsGradients) {
  EXPECT_EQ(error_of(reference(), "average | server-mix", {.updates = {{1}}}),
            "server-mix needs at least one server gradient; got none");
  const std::string bad =
      error_of(reference(), "coomed | server-mix", {.updates = {{1}}, .server = {{kNaN}}});
  EXPECT_NE(bad.find("server gradient 0"), std::string::npos) << bad;
}

}  // namespace
}  // namespace boba::test
