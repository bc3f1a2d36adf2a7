#include "simulator/train/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace boba {
using namespace sim;  // NOLINT
namespace {

TEST(LearningRate, FallsEveryFewRoundsAfterTheGivenOne) {
  const TrainingSection training{
      .learning_rate = 0.8, .decay_start = 100, .decay_every = 10, .decay = 0.5};
  for (const int round : {1, 50, 100}) EXPECT_EQ(learning_rate(training, round), 0.8) << round;
  for (const int round : {101, 105, 110}) EXPECT_EQ(learning_rate(training, round), 0.4) << round;
  for (const int round : {111, 120}) EXPECT_EQ(learning_rate(training, round), 0.2) << round;
  EXPECT_DOUBLE_EQ(learning_rate(training, 200), 0.8 * std::pow(0.5, 10));
}

TEST(LearningRate, StaysWithoutDecay) {
  const TrainingSection training{.learning_rate = 0.3, .decay_start = 0, .decay = 1.0};
  EXPECT_EQ(learning_rate(training, 1), 0.3);
  EXPECT_EQ(learning_rate(training, 100000), 0.3);
}

TEST(Cohort, IsEveryoneWithoutSampling) {
  const Cohort cohort = draw_cohort({.honest = 5, .byzantine = 2, .participation = 1}, 1, 3);
  EXPECT_EQ(cohort.honest, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(cohort.byzantine, (std::vector<int>{0, 1}));
}

TEST(Cohort, RoundsHalvesUpAndKeepsOrder) {
  const FederationSection federation{.honest = 10, .byzantine = 6, .participation = 0.25};
  for (int round = 1; round < 50; ++round) {
    const Cohort cohort = draw_cohort(federation, 9, round);
    EXPECT_EQ(cohort.honest.size(), 3U);     // 2.5
    EXPECT_EQ(cohort.byzantine.size(), 2U);  // 1.5
    EXPECT_TRUE(std::is_sorted(cohort.honest.begin(), cohort.honest.end()));
    EXPECT_EQ(std::set<int>(cohort.honest.begin(), cohort.honest.end()).size(), 3U);
  }
}

TEST(Cohort, RoundsHalvesUpThatBinaryRoundsDown) {
  // 0.29 * 50 is 14.499999999999998 in double.
  const Cohort cohort = draw_cohort({.honest = 50, .byzantine = 50, .participation = 0.29}, 1, 1);
  EXPECT_EQ(cohort.honest.size(), 15U);
  EXPECT_EQ(cohort.byzantine.size(), 15U);
}

TEST(Cohort, DrawsEveryClientAboutAsOften) {
  const FederationSection federation{.honest = 20, .byzantine = 0, .participation = 0.5};
  std::vector<int> count(20, 0);
  for (int round = 1; round <= 2000; ++round) {
    for (const int client : draw_cohort(federation, 4, round).honest)
      ++count[static_cast<std::size_t>(client)];
  }
  // 1000 expected, standard deviation 22.
  for (const int c : count) EXPECT_NEAR(c, 1000, 120);
}

TEST(Cohort, DependsOnSeedAndRound) {
  const FederationSection federation{.honest = 40, .byzantine = 4, .participation = 0.5};
  EXPECT_EQ(draw_cohort(federation, 1, 1).honest, draw_cohort(federation, 1, 1).honest);
  EXPECT_NE(draw_cohort(federation, 1, 1).honest, draw_cohort(federation, 1, 2).honest);
  EXPECT_NE(draw_cohort(federation, 1, 1).honest, draw_cohort(federation, 2, 1).honest);
}

TEST(Cohort, HasOneHonestClientAtLeastAndAllAttackersIfAsked) {
  const Cohort cohort = draw_cohort({.honest = 10,
                                     .byzantine = 4,
                                     .participation = 0.01,
                                     .byzantine_turnout = ByzantineTurnout::kAll},
                                    1, 1);
  EXPECT_EQ(cohort.honest.size(), 1U);
  EXPECT_EQ(cohort.byzantine, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace boba
