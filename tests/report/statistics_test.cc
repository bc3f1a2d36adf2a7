#include "simulator/report/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace boba::sim::report {
namespace {

TEST(StatisticsOf, IsThatOfASample) {
  const double values[] = {1, 3, std::nan(""), 5};
  const Statistics statistics = statistics_of(values);
  EXPECT_EQ(statistics.count, 3U);
  EXPECT_EQ(statistics.mean, 3);
  EXPECT_EQ(statistics.deviation, 2);
  EXPECT_EQ(statistics.low, 1);
  EXPECT_EQ(statistics.high, 5);
  EXPECT_EQ(statistics_of({}).count, 0U);
  const double one[] = {7};
  EXPECT_EQ(statistics_of(one).deviation, 0);
}

TEST(BandOf, TakesTheRoundsThatAllCurvesHave) {
  const std::vector<Curve> curves = {{{1, 0.2}, {2, 0.4}, {3, 0.6}}, {{1, 0.4}, {2, 0.8}}, {}};
  const std::vector<BandPoint> band = band_of(curves);
  ASSERT_EQ(band.size(), 2U);
  EXPECT_EQ(band[1].x, 2);
  EXPECT_NEAR(band[1].mean, 0.6, 1e-12);
  EXPECT_EQ(band[1].low, 0.4);
  EXPECT_EQ(band[1].high, 0.8);
}

TEST(BandOf, FallsBackToTheLongestCurve) {
  const std::vector<Curve> curves = {{{1, 0.2}}, {{2, 0.4}, {4, 0.5}}};
  const std::vector<BandPoint> band = band_of(curves);
  ASSERT_EQ(band.size(), 2U);
  EXPECT_EQ(band[1].mean, 0.5);
  EXPECT_TRUE(band_of({}).empty());
}

}  // namespace
}  // namespace boba::sim::report
