#include <gtest/gtest.h>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_loss.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

TEST(AvgRej, OfSmallIntegers) {
  for (const auto& kernels : all_kernels()) {
    QuadraticLoss loss({1}, {-1});
    // Without the last the others' mean reaches the optimum: its removal hurts least.
    const RoundInput input{
        .updates = {{1}, {1}, {1}, {1}, {-3}}, .model = {0}, .eta = 1, .oracle = &loss};
    const Outcome o = run(*kernels, "avgrej(f=1)", input);
    EXPECT_EQ(o.out, (Row{1}));
    EXPECT_EQ(measure(o.verdict.clients[4].measures, "loss_without"), 0);
    EXPECT_EQ(measure(o.verdict.clients[0].measures, "loss_without"), 0.5);
    EXPECT_EQ(o.verdict.clients[4].reason,
              "rejected: loss_without 0 is not among the 4 largest of 5");
    EXPECT_EQ(loss.losses, 5);
  }
}

TEST(AvgRej, IsItsDefinition) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const FullRound full = full_round(n, d, dtype, seed);
    const Row expected =
        oracle::avgrej(full.input.updates, n / 4, *full.loss, full.input.model, full.input.eta);
    const Outcome o = run(kernels, "avgrej(f=" + std::to_string(n / 4) + ")", full.input);
    EXPECT_LT(relative_error(o.out, expected), tolerance(dtype));
  });
}

TEST(AvgRej, OneFarOutLeavesNoRoundingBehind) {
  // Its removal from a float sum of everything would leave errors larger than the others.
  const Rows honest = rounded(random_rows(7, 5, 3), DType::kFloat32);
  Rows rows = honest;
  rows.insert(rows.begin() + 2, Row(5, 1e5));
  QuadraticLoss loss = QuadraticLoss::random(5, 6);
  RoundInput input{.updates = rows,
                   .dtype = DType::kFloat32,
                   .model = Row(5, 0.5),
                   .eta = 0.25,
                   .oracle = &loss};
  for (const auto& kernels : all_kernels()) {
    const Outcome o = run(*kernels, "avgrej(f=1)", input);
    EXPECT_LT(relative_error(o.out, oracle::mean(honest)), 1e-6);
    EXPECT_NEAR(measure(o.verdict.clients[2].measures, "loss_without"),
                loss.value(plus(Row(5, 0.5), oracle::mean(honest), -0.25)), 1e-5);
  }
}

TEST(AvgRej, PairsThatCancelAreRefused) {
  // In the sum of the others only their rounding would be left.
  const Rows honest = rounded(random_rows(7, 5, 3), DType::kFloat32);
  QuadraticLoss loss = QuadraticLoss::random(5, 6);
  for (double size : {1e8, 1e20, 1e36}) {
    Rows rows = honest;
    rows.insert(rows.begin(), Row(5, size));
    rows.insert(rows.begin() + 4, Row(5, -size));
    const RoundInput input{.updates = rows,
                           .dtype = DType::kFloat32,
                           .model = Row(5, 0.5),
                           .eta = 0.25,
                           .oracle = &loss};
    for (const auto& kernels : all_kernels()) {
      const Outcome o = run(*kernels, "avgrej(f=2)", input);
      EXPECT_EQ(o.verdict.refused, 2U) << size;
      EXPECT_TRUE(o.verdict.clients[4].refused) << size;
      EXPECT_NE(o.verdict.clients[0].reason.find("its norm is"), std::string::npos)
          << o.verdict.clients[0].reason;
      EXPECT_LT(relative_error(o.out, oracle::mean(honest)), 1e-6) << size;
    }
  }
}

TEST(AvgRej, NearTheLargestFloatNothingOverflows) {
  Rows rows = random_rows(6, 4, 3);
  rows[0] = Row(4, 1.5e38);
  rows[1] = Row(4, 1.5e38);
  QuadraticLoss loss = QuadraticLoss::random(4, 6);
  const Outcome o = run(reference(), "avgrej(f=2)",
                        {.updates = rows,
                         .dtype = DType::kFloat32,
                         .model = Row(4, 0.5),
                         .eta = 0.25,
                         .oracle = &loss});
  EXPECT_FALSE(o.verdict.clients[0].accepted);
  EXPECT_FALSE(o.verdict.clients[1].accepted);
}

TEST(AvgRej, RefusesWhatCannotBeComputed) {
  QuadraticLoss loss({1}, {0});
  RoundInput input{.updates = {{1}}, .model = {0}, .oracle = &loss};
  EXPECT_EQ(error_of(reference(), "avgrej", input), "avgrej needs n >= 2; got n=1");
  input.updates = {{1}, {2}};
  EXPECT_EQ(error_of(reference(), "avgrej(f=2)", input), "avgrej needs n - f >= 1; got n=2, f=2");
  loss.fails_at = 2;
  EXPECT_EQ(error_of(reference(), "avgrej(f=1)", input), "the server's data is out of reach");
}

}  // namespace
}  // namespace boba::test
