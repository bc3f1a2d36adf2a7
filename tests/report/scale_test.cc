#include "simulator/report/scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace boba::sim::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LinearScale, MapsEndsToEndsAndTurnsRound) {
  const LinearScale down(0, 10, 200, 100);
  EXPECT_EQ(down(0), 200);
  EXPECT_EQ(down(10), 100);
  EXPECT_EQ(down(5), 150);
  EXPECT_EQ(LinearScale(3, 3, 0, 10)(3), 5) << "an empty domain";
  EXPECT_EQ(LinearScale(0, 1, 0, 10)(std::nan("")), 5);
}

TEST(NiceTicks, AreRoundNumbersWithinTheDomain) {
  EXPECT_EQ(nice_ticks(0, 100, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(nice_ticks(0, 90, 5), (std::vector<double>{0, 20, 40, 60, 80}));
  EXPECT_EQ(nice_ticks(-3, 7, 2), (std::vector<double>{0, 5}));
  for (double to : {1e-9, 0.37, 1.0, 3.0, 99.0, 12345.0, 1e12}) {
    for (int wanted : {1, 2, 4, 7}) {
      const std::vector<double> ticks = nice_ticks(0, to, wanted);
      ASSERT_FALSE(ticks.empty()) << to;
      EXPECT_GE(ticks.front(), 0);
      EXPECT_LE(ticks.back(), to * (1 + 1e-9));
      EXPECT_LE(ticks.size(), static_cast<std::size_t>(wanted) + 1) << to << " " << wanted;
    }
  }
}

TEST(NiceTicks, ComeToAnEndOnAnyDomain) {
  EXPECT_EQ(nice_ticks(5, 5, 4), std::vector<double>{5});
  EXPECT_EQ(nice_ticks(0, kInfinity, 4), std::vector<double>{0});
  EXPECT_EQ(nice_ticks(9, 1, 4), std::vector<double>{9});
  EXPECT_LE(nice_ticks(1e300, 1.0000000001e300, 4).size(), 50U);
}

TEST(WholeTicks, NeverSplitARound) {
  EXPECT_EQ(whole_ticks(0, 3, 10), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(whole_ticks(0, 200, 4), (std::vector<double>{0, 50, 100, 150, 200}));
}

TEST(TickLabel, HasTheDecimalsOfTheStep) {
  EXPECT_EQ(tick_label(0.25, 0.05), "0.25");
  EXPECT_EQ(tick_label(0.3, 0.1), "0.3");
  EXPECT_EQ(tick_label(200, 50), "200");
  EXPECT_EQ(tick_label(20000, 5000), "20k");
  EXPECT_EQ(tick_label(-1e-17, 1), "0");
}

TEST(ShareDomain, HoldsTheValuesAndIsNeverTooNarrow) {
  const auto is = [](Domain domain, double from, double to) {
    return std::abs(domain.from - from) < 1e-12 && std::abs(domain.to - to) < 1e-12;
  };
  EXPECT_TRUE(is(share_domain({0.61, 0.97}), 0.6, 1));
  EXPECT_TRUE(is(share_domain({0.09, 0.85}), 0, 0.9));
  EXPECT_TRUE(is(share_domain({0.92, 0.93}), 0.8, 1)) << "noise must not look like a difference";
  EXPECT_TRUE(is(share_domain({0}), 0, 0.2));
  EXPECT_TRUE(is(share_domain({}), 0, 1));
  EXPECT_TRUE(is(share_domain({std::nan(""), kInfinity}), 0, 1));
}

TEST(ErrorDomain, StartsAtZeroAndIsCapped) {
  const auto top = [](const std::vector<double>& values) {
    EXPECT_EQ(error_domain(values).from, 0);
    return error_domain(values).to;
  };
  EXPECT_NEAR(top({0.61, 0.72}), 0.8, 1e-12);
  EXPECT_NEAR(top({1.05}), 1.2, 1e-12);
  EXPECT_EQ(top({0.5, 15}), kErrorCap);
  EXPECT_EQ(top({1e300, kInfinity, std::nan("")}), kErrorCap);
  EXPECT_NEAR(top({}), 0.2, 1e-12);
}

TEST(BinOf, CoversTheDomainAndStopsAtItsEnds) {
  EXPECT_EQ(bin_of(0, {0, 1}, 9), 0);
  EXPECT_EQ(bin_of(1, {0, 1}, 9), 8);
  EXPECT_EQ(bin_of(0.5, {0, 1}, 9), 4);
  EXPECT_EQ(bin_of(-7, {0, 1}, 9), 0);
  EXPECT_EQ(bin_of(kInfinity, {0, 1}, 9), 8);
  EXPECT_EQ(bin_of(std::nan(""), {0, 1}, 9), 0);
  EXPECT_EQ(bin_of(0.5, {1, 1}, 9), 0);
}

}  // namespace
}  // namespace boba::sim::report
