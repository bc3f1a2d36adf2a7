#include "simulator/report/report_data.h"

#include <gtest/gtest.h>

#include <cmath>

namespace boba::sim::report {
namespace {

RunHeader header_of(int rounds) {
  RunHeader header;
  header.honest = 10;
  header.byzantine = 4;
  header.rounds = rounds;
  return header;
}

TEST(ReduceCurve, KeepsTheLastEvaluationOfAGroup) {
  std::vector<EvaluationRecord> evaluations;
  for (int round = 1; round <= 1000; ++round) {
    evaluations.push_back({});
    evaluations.back().round = round;
    evaluations.back().accuracy = round / 1000.0;
  }
  const auto curve = reduce_curve(header_of(1000), evaluations);
  ASSERT_EQ(curve.size(), 200U);
  EXPECT_EQ(curve.front().round, 5);
  EXPECT_EQ(curve.back().round, 1000);
  EXPECT_EQ(curve.back().accuracy, 1);
  evaluations[3].accuracy = std::nan("");
  EXPECT_EQ(reduce_curve(header_of(10), std::span(evaluations).first(10)).size(), 9U);
}

TEST(ReduceRounds, CountsWhoWasThere) {
  RoundRecord all;
  all.round = 1;
  all.false_accepts = 1;
  all.false_rejects = 2;
  RoundRecord some = all;
  some.round = 2;
  some.participants = {0, 1, 2, 10, 11};
  const auto points = reduce_rounds(header_of(2), std::vector{all, some});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].honest_accepted, 8);
  EXPECT_EQ(points[0].honest_left_out, 2);
  EXPECT_EQ(points[0].byzantine_accepted, 1);
  EXPECT_EQ(points[0].byzantine_left_out, 3);
  EXPECT_EQ(points[1].honest_accepted, 1);
  EXPECT_EQ(points[1].byzantine_left_out, 1);
}

TEST(ReduceRounds, AveragesGroupsThatLieWhereOtherSeedsHaveThem) {
  std::vector<RoundRecord> rounds(400);
  for (int i = 0; i < 400; ++i) {
    rounds[static_cast<std::size_t>(i)].round = i + 1;
    rounds[static_cast<std::size_t>(i)].false_rejects = i % 2;
    if (i % 2 == 0) rounds[static_cast<std::size_t>(i)].label_error = 0.5;
  }
  const auto whole = reduce_rounds(header_of(400), rounds);
  ASSERT_EQ(whole.size(), 200U);
  EXPECT_EQ(whole[7].round, 16);
  EXPECT_EQ(whole[7].honest_left_out, 0.5);
  EXPECT_EQ(whole[7].label_error, 0.5) << "rounds without one do not count";
  const auto half = reduce_rounds(header_of(400), std::span(rounds).first(200));
  ASSERT_EQ(half.size(), 100U);
  EXPECT_EQ(half[7].round, whole[7].round);
}

TEST(ReduceRounds, SurvivesCountsThatCannotBe) {
  RoundRecord round;
  round.round = -5;
  round.false_accepts = 100;
  round.false_rejects = 1 << 30;
  round.label_error = std::nan("");
  const auto points = reduce_rounds(header_of(0), std::vector{round});
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].honest_accepted, 0);
  EXPECT_EQ(points[0].byzantine_left_out, 0);
  EXPECT_FALSE(points[0].label_error);
  EXPECT_TRUE(reduce_rounds(header_of(5), {}).empty());
}

TEST(MeanPhases, AreThoseOfARound) {
  RoundRecord a;
  a.train_seconds = 1;
  a.evaluate_seconds = 3;
  RoundRecord b;
  b.train_seconds = 2;
  const auto mean = mean_phases(std::vector{a, b});
  ASSERT_TRUE(mean);
  EXPECT_EQ(mean->train, 1.5);
  EXPECT_EQ(mean->evaluate, 1.5);
  b.train_seconds = std::nan("");
  EXPECT_FALSE(mean_phases(std::vector{a, b}));
  EXPECT_FALSE(mean_phases({}));
}

}  // namespace
}  // namespace boba::sim::report
