#include <gtest/gtest.h>

#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(Server, IsTheMeanOfItsGradients) {
  for (const auto& kernels : all_kernels()) {
    const Outcome o =
        run(*kernels, "server",
            {.updates = {{100}, {200}}, .server = {{1}, {2}, {6}}, .counts = {1, 1, 100}});
    EXPECT_EQ(o.out, (Row{3}));
    EXPECT_EQ(o.verdict.weights, (std::vector<double>{0, 0}));
    EXPECT_EQ(o.verdict.server_weights, (std::vector<double>(3, 1.0 / 3)));
    EXPECT_EQ(o.verdict.accepted(), 0U);
    EXPECT_EQ(o.verdict.clients[0].reason, "the rule uses the server's gradients only");
  }
}

TEST(Server, NeedsGradients) {
  EXPECT_EQ(error_of(reference(), "server", {.updates = {{1}}}),
            "server needs at least one server gradient; got none");
}

TEST(Server, RefusesItsOwnBadGradient) {
  const std::string error =
      error_of(reference(), "server", {.updates = {{1}}, .server = {{1}, {kNaN}}});
  EXPECT_EQ(error, "server gradient 1 contains NaN or infinity");
}

TEST(Server, ClientsCannotHarmIt) {
  const double bad[] = {kNaN, kInfinity, 1e300};
  for (double x : bad) {
    EXPECT_EQ(run(reference(), "server", {.updates = {{x}, {x}}, .server = {{4}}}).out, (Row{4}));
  }
}

}  // namespace
}  // namespace boba::test
