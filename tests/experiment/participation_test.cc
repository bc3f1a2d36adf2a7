#include "simulator/experiment/participation.h"

#include <gtest/gtest.h>

namespace boba {
using namespace sim;  // NOLINT
namespace {

// Shares in percent, so that whole numbers tell what is right.
TEST(ClientsOf, RoundsHalvesUp) {
  for (int percent = 1; percent <= 100; ++percent) {
    for (const int count : {1, 2, 7, 10, 50, 54, 100, 150, 160, 1000, 1 << 20}) {
      const auto right = (2LL * percent * count + 100) / 200;
      EXPECT_EQ(clients_of(percent / 100.0, count), right) << percent << "% of " << count;
    }
  }
  EXPECT_EQ(clients_of(0.29, 50), 15);  // 14.499999999999998 in double
  EXPECT_EQ(clients_of(0.5, 0), 0);
}

TEST(CohortSize, IsEveryoneOrTheShare) {
  FederationSection federation{.honest = 10, .byzantine = 6, .participation = 1};
  EXPECT_EQ(cohort_size(federation).honest, 10);
  EXPECT_EQ(cohort_size(federation).byzantine, 6);
  federation.participation = 0.25;
  EXPECT_EQ(cohort_size(federation).honest, 3);
  EXPECT_EQ(cohort_size(federation).byzantine, 2);
  federation.byzantine_turnout = ByzantineTurnout::kAll;
  EXPECT_EQ(cohort_size(federation).honest, 3);
  EXPECT_EQ(cohort_size(federation).byzantine, 6);
  federation.participation = 0.01;
  EXPECT_EQ(cohort_size(federation).honest, 1);
}

std::string scaled_rule(const char* rule, const FederationSection& federation) {
  return print_spec(scaled_stages(*parse_spec(rule), federation));
}

TEST(ScaledRule, ScalesEveryFHalvesUp) {
  FederationSection federation{.honest = 160, .byzantine = 54, .participation = 0.25};
  EXPECT_EQ(scaled_rule("boba(f=60)", federation), "boba(f=15)");
  EXPECT_EQ(scaled_rule("bucketing(s=2) | krum(f=6)", federation), "bucketing(s=2) | krum(f=2)");
  EXPECT_EQ(scaled_rule("average", federation), "average");
  federation.byzantine_turnout = ByzantineTurnout::kAll;
  EXPECT_EQ(scaled_rule("boba(f=60)", federation), "boba(f=60)");
  federation.participation = 1;
  federation.byzantine_turnout = ByzantineTurnout::kSampled;
  EXPECT_EQ(scaled_rule("boba(f=60)", federation), "boba(f=60)");
  federation.participation = 0.29;
  EXPECT_EQ(scaled_rule("krum(f=50)", federation), "krum(f=15)");
}

}  // namespace
}  // namespace boba
