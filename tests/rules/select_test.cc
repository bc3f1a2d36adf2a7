#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "boba/rules/select.h"

namespace boba::test {
namespace {

TEST(Choose, TakesTheBestWithTiesToTheLowerIndex) {
  const std::vector<double> values = {3, 1, 2, 1, 5};
  EXPECT_EQ(choose(values, 1, Best::kSmallest), (std::vector<bool>{0, 1, 0, 0, 0}));
  EXPECT_EQ(choose(values, 2, Best::kSmallest), (std::vector<bool>{0, 1, 0, 1, 0}));
  EXPECT_EQ(choose(values, 2, Best::kLargest), (std::vector<bool>{1, 0, 0, 0, 1}));
  EXPECT_EQ(choose(values, 0, Best::kSmallest), std::vector<bool>(5, false));
  EXPECT_EQ(choose(values, 5, Best::kLargest), std::vector<bool>(5, true));
}

TEST(Choose, NotANumberIsInfinite) {
  const std::vector<double> values = {std::nan(""), 1, INFINITY, 2};
  EXPECT_EQ(choose(values, 2, Best::kSmallest), (std::vector<bool>{0, 1, 0, 1}));
  EXPECT_EQ(choose(values, 3, Best::kSmallest), (std::vector<bool>{1, 1, 0, 1}));
  EXPECT_EQ(choose(values, 1, Best::kLargest), (std::vector<bool>{1, 0, 0, 0}));
}

TEST(MeanOfBest, SaysWhy) {
  const Decision d = mean_of_best(std::vector<double>{3, 1, 2}, 2, Best::kSmallest, "score");
  EXPECT_EQ(d.rows[0].weight, 0);
  EXPECT_EQ(d.rows[1].weight, 0.5);
  EXPECT_EQ(d.rows[0].reason, "rejected: score 3 is not among the 2 smallest of 3");
}

TEST(Tolerance, OfARound) {
  EXPECT_EQ(tolerance_warnings({.clients = 5}, 0).at(0), "f=0 tolerates no Byzantine client");
  EXPECT_TRUE(tolerance_warnings({.clients = 5, .refused = 2}, 2).empty());
  EXPECT_EQ(tolerance_warnings({.clients = 5, .refused = 3}, 2).at(0),
            "3 updates were refused, more than f=2: others may be Byzantine too");
  EXPECT_EQ(majority_warnings({.clients = 4}, 2).at(0),
            "most clients must be honest, n > 2f; got n=4, f=2");
  EXPECT_TRUE(majority_warnings({.clients = 4, .refused = 1}, 2).empty());
  EXPECT_EQ(needs_more_than_f("rule", {.clients = 2}, 2).error().message,
            "rule needs n - f >= 1; got n=2, f=2");
}

}  // namespace
}  // namespace boba::test
