// Numbers of a report against ones computed by hand.

#include "simulator/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "boba/rules/subspace_report.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

TEST(Measure, RowsAreTheTruthAndColumnsThePrediction) {
  const Evaluation evaluation{.loss = 0.75,
                              .confusion = {5, 3, 2,  //
                                            1, 6, 0,  //
                                            0, 4, 9}};
  const EvaluationRecord record = measure(evaluation, 3, 12);
  EXPECT_EQ(record.round, 12);
  EXPECT_EQ(record.loss, 0.75);
  EXPECT_EQ(record.confusion, evaluation.confusion);
  EXPECT_DOUBLE_EQ(record.accuracy, 20.0 / 30);
  ASSERT_EQ(record.recall.size(), 3U);
  // By columns they would be 5/6, 6/13 and 9/11.
  EXPECT_DOUBLE_EQ(record.recall[0], 5.0 / 10);
  EXPECT_DOUBLE_EQ(record.recall[1], 6.0 / 7);
  EXPECT_DOUBLE_EQ(record.recall[2], 9.0 / 13);
}

TEST(Measure, AClassWithoutExamplesHasNoRecall) {
  const EvaluationRecord record = measure({.loss = 1, .confusion = {2, 1, 0, 0}}, 2, 1);
  EXPECT_DOUBLE_EQ(record.recall[0], 2.0 / 3);
  EXPECT_TRUE(std::isnan(record.recall[1])) << record.recall[1];
  EXPECT_DOUBLE_EQ(record.accuracy, 2.0 / 3);
}

TEST(Measure, ALossThatIsNoNumberIsNone) {
  for (const double loss :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(measure({.loss = loss, .confusion = {1, 0, 0, 1}}, 2, 1).loss.has_value());
  }
}

// Its last finite parameters may well score: what they say means nothing.
TEST(Measure, ALostModelPredictsTheFirstClass) {
  const Evaluation lost = of_lost_model({.loss = 3, .confusion = {5, 3, 2, 1, 6, 0, 0, 4, 9}}, 3);
  EXPECT_TRUE(std::isnan(lost.loss));
  EXPECT_EQ(lost.confusion, (std::vector<std::int64_t>{10, 0, 0, 7, 0, 0, 13, 0, 0}));
  EXPECT_DOUBLE_EQ(measure(lost, 3, 1).accuracy, 10.0 / 30);
}

// Five honest clients 0..4 and three Byzantine ones 5..7, three classes.
std::vector<ClientRecord> eight_clients() {
  std::vector<ClientRecord> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back({.client = i, .honest = i < 5, .labels = {1, 1, 2}, .corruption = ""});
  }
  clients[1].labels = {3, 1, 0};
  clients[3].labels = {0, 0, 2};
  return clients;
}

Verdict verdict_of(const std::vector<bool>& accepted) {
  Verdict verdict;
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    ClientVerdict client;
    client.index = i;
    client.accepted = accepted[i];
    verdict.clients.push_back(client);
  }
  return verdict;
}

RoundRecord judged(const Verdict& verdict, const Cohort& cohort) {
  RoundRecord record;
  judge(verdict, cohort, eight_clients(), record);
  return record;
}

TEST(Judge, NamesClientsNotRows) {
  const RoundRecord record = judged(verdict_of({false, false, false}), {{1, 3}, {0}});
  EXPECT_EQ(record.rejected, (std::vector<int>{1, 3, 5}));
  EXPECT_EQ(record.false_rejects, 2);
  EXPECT_EQ(record.false_accepts, 0);
}

TEST(Judge, CountsBothKindsOfMistake) {
  RoundRecord record = judged(verdict_of({true, false, false, true, true}), {{1, 3}, {0, 1, 2}});
  EXPECT_EQ(record.rejected, (std::vector<int>{3, 5}));
  EXPECT_EQ(record.false_rejects, 1);
  EXPECT_EQ(record.false_accepts, 2);
  record = judged(verdict_of({true, true, false, false}), {{0, 4}, {1, 2}});
  EXPECT_EQ(record.rejected, (std::vector<int>{6, 7}));
  EXPECT_EQ(record.false_rejects, 0);
  EXPECT_EQ(record.false_accepts, 0);
}

TEST(Judge, LabelErrorIsHalfTheDistanceOfTheHonestMixes) {
  const Cohort cohort{{1, 3, 4}, {2}};
  Verdict verdict = verdict_of({true, true, true, true});
  verdict.clients[0].label_mix = {0.5, 0.25, 0.25};  // true 0.75, 0.25, 0: 0.25
  verdict.clients[1].label_mix = {1, 0, 0};          // true 0, 0, 1: 1
  verdict.clients[3].label_mix = {9, -9, 1};         // a Byzantine client's does not count
  ASSERT_TRUE(judged(verdict, cohort).label_error.has_value());
  EXPECT_DOUBLE_EQ(*judged(verdict, cohort).label_error, (0.25 + 1) / 2);
  // Shares below 0 count in full; true 0.25, 0.25, 0.5.
  verdict.clients[2].label_mix = {-0.25, 0.5, 0.75};  // differences 0.5, 0.25, 0.25
  EXPECT_DOUBLE_EQ(*judged(verdict, cohort).label_error, (0.25 + 1 + 0.5) / 3);
}

TEST(Judge, TellsNoLabelErrorAndNoFitsWhereThereAreNone) {
  Verdict verdict = verdict_of({true, true});
  EXPECT_FALSE(judged(verdict, {{1}, {0}}).label_error.has_value());
  EXPECT_FALSE(judged(verdict, {{1}, {0}}).fits.has_value());
  SubspaceReport subspace;
  subspace.fits = 4;
  verdict.reports.push_back(to_report(subspace));
  EXPECT_EQ(judged(verdict, {{1}, {0}}).fits, 4);
}

TEST(Estimates, AreOfTheClientsThatHaveOne) {
  Verdict verdict = verdict_of({true, true, true, false});
  verdict.clients[1].label_mix = {0.5, 0.5};
  verdict.clients[3].label_mix = {1.25, -0.25};
  const EstimateRecord record = estimates(verdict, {{1, 3}, {0, 2}}, 5, 20);
  EXPECT_EQ(record.round, 20);
  EXPECT_EQ(record.clients, (std::vector<int>{3, 7}));
  EXPECT_EQ(record.shares, (std::vector<std::vector<double>>{{0.5, 0.5}, {1.25, -0.25}}));
  EXPECT_TRUE(estimates(verdict_of({true, true}), {{1}, {0}}, 5, 20).clients.empty());
}

}  // namespace
}  // namespace boba
