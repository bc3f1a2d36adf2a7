// The cost model: its formulas by hand, and what must hold for any numbers.

#include "boba/dist/cost.h"

#include <gtest/gtest.h>

#include <vector>

#include "boba/dist/sharded.h"

namespace boba {
namespace {

// Round numbers, so that a hand can follow.
constexpr MachineProfile kPlain{.memory = 1e12,
                                .read = 1e9,
                                .storage = 1e6,
                                .rate = 1e9,
                                .network = 1e9,
                                .latency = 1e-3,
                                .solve = 1e-6};

TEST(Cost, OneMachineByHand) {
  const RoundCost cost = cost_of({.clients = 98, .classes = 1, .parameters = 1000000}, kPlain, 1);
  EXPECT_EQ(cost.machines, 1U);
  EXPECT_TRUE(cost.in_memory);
  EXPECT_DOUBLE_EQ(cost.update_bytes, 99 * 4e6);
  EXPECT_DOUBLE_EQ(cost.product_seconds, 99 * 100 * 1e6 / 1e9);
  EXPECT_DOUBLE_EQ(cost.exchange_seconds, 0);
  EXPECT_DOUBLE_EQ(cost.solve_seconds, 99 * 99 * 1e-6);
  EXPECT_DOUBLE_EQ(cost.output_seconds, 99 * 4e6 / 1e9);
  EXPECT_DOUBLE_EQ(cost.total(), 9.9 + 99 * 99e-6 + 0.396);
}

TEST(Cost, TwoMachinesByHand) {
  // 62 chunks of 16384 columns; the triangle of 99 rows has 4950 products.
  const RoundCost cost = cost_of({.clients = 98, .classes = 1, .parameters = 1000000}, kPlain, 2);
  const double triangle = 8 * 4950;
  EXPECT_DOUBLE_EQ(cost.product_seconds, 4.95);
  EXPECT_DOUBLE_EQ(cost.output_seconds, 0.198);
  EXPECT_DOUBLE_EQ(cost.machine_bytes, 99 * 2e6 + 32 * triangle + 8 * 99 * 99 + 2e6);
  EXPECT_NEAR(cost.exchange_seconds,
              31 * triangle / 1e9 + 2 * triangle / 1e9 + (1e-3 + triangle / 1e9) + 1e-3, 1e-12);
}

TEST(Cost, FewRowsAreBoundByReading) {
  const RoundCost cost = cost_of({.clients = 1, .classes = 0, .parameters = 1 << 20}, kPlain, 1);
  EXPECT_DOUBLE_EQ(cost.product_seconds, cost.output_seconds);
}

TEST(Cost, SketchesCostTheirLengthAndOnePass) {
  const RoundSize exact{.clients = 1000, .classes = 0, .parameters = 1000000};
  RoundSize sketched = exact;
  sketched.sketch = 4096;
  const RoundCost cost = cost_of(sketched, kPlain, 1);
  EXPECT_DOUBLE_EQ(cost.product_seconds, 4.0 + 1000.0 * 1001 * 4096 / 1e9);
  EXPECT_LT(cost.product_seconds, cost_of(exact, kPlain, 1).product_seconds / 100);
  sketched.sketch = 1 << 30;
  const double triangle = 4.0 * 1000 * 1001;
  EXPECT_DOUBLE_EQ(cost_of(sketched, kPlain, 2).machine_bytes,
                   1000 * 2e6 + 2 * 8e9 + 63 * triangle + 8e6 + 2e6)
      << "no sketch is longer than the rows";
}

// Machines wait for the sketches of the ones before: 1,000 rows go on by 125 with two machines, by
// 63 with four, and by 16 with a hundred.
TEST(Cost, SketchesOfSeveralMachinesByHand) {
  const RoundSize round{.clients = 1000, .classes = 0, .parameters = 100000000, .sketch = 4096};
  struct Case {
    std::size_t machines;
    double steps;
    double rows;
    double messages;  // until the last machine knows, from it to all
  };
  for (const Case& c : {Case{2, 8, 125, 1}, Case{4, 16, 63, 2}, Case{100, 63, 16, 7}}) {
    const auto k = static_cast<double>(c.machines);
    const RoundCost cost = cost_of(round, kPlain, c.machines);
    ASSERT_EQ(cost.machines, c.machines);
    const double pass = 1000 * 4e8 / k / 1e9;
    EXPECT_DOUBLE_EQ(cost.output_seconds, pass);
    EXPECT_DOUBLE_EQ(cost.product_seconds,
                     pass * (c.steps + k - 1) / c.steps + 1000.0 * 1001 * 4096 / 1e9);
    const double sketches = 8.0 * 4096 * 1000;
    EXPECT_NEAR(
        cost.exchange_seconds,
        3 * sketches / 1e9 + (k - 1) * (1e-3 + 8.0 * 4096 * c.rows / 1e9) + c.messages * 1e-3,
        1e-12);
    // Two chunks of the sketches, and their sum.
    EXPECT_DOUBLE_EQ(cost.machine_bytes,
                     1000 * 4e8 / k + 2 * sketches + 3 * 4.0 * 1000 * 1001 + 8e6 + 4e8 / k);
  }
}

TEST(Cost, TakesTheFewestMachinesThatHoldAll) {
  const MachineProfile machine;
  for (const double clients : {1e3, 1e4, 1e5}) {
    for (const double parameters : {1e9, 1e10, 1e11, 1e12}) {
      for (const std::size_t sketch : {0, 4096}) {
        const RoundSize round{.clients = static_cast<std::size_t>(clients),
                              .parameters = static_cast<std::size_t>(parameters),
                              .sketch = sketch};
        const RoundCost cost = cost_of(round, machine);
        ASSERT_GE(cost.machines, 1U);
        ASSERT_LE(cost.machines, most_machines(round.parameters));
        EXPECT_EQ(cost.in_memory, cost.machine_bytes <= machine.memory);
        if (!cost.in_memory) {
          EXPECT_EQ(cost.machines, most_machines(round.parameters));
        } else if (cost.machines > 1) {
          EXPECT_FALSE(cost_of(round, machine, cost.machines - 1).in_memory);
        }
      }
    }
  }
}

TEST(Cost, KnowsHowManyMachinesCanTakePart) {
  for (const std::size_t length : {1UL, 5000UL, 2000000UL, 1000000000UL, 1000000000000UL}) {
    EXPECT_EQ(static_cast<int>(most_machines(length)), ranks_in_use(length, 1 << 20));
    const RoundSize round{.clients = 10, .parameters = length};
    EXPECT_LE(cost_of(round, {}, 100000).machines, most_machines(length));
  }
}

TEST(Cost, MoreMachinesNeverMakeAPassSlower) {
  const RoundSize round{.clients = 1000, .parameters = 1000000000};
  double before = 1e300;
  for (std::size_t machines = 16; machines <= 512; machines *= 2) {
    const RoundCost cost = cost_of(round, {}, machines);
    EXPECT_TRUE(cost.in_memory);
    EXPECT_LT(cost.product_seconds, before);
    before = cost.product_seconds;
  }
}

}  // namespace
}  // namespace boba
