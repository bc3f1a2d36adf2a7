#include "boba/core/screen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace boba {
namespace {

std::vector<std::size_t> refused(const std::vector<double>& distances, std::size_t f,
                                 double limit) {
  std::vector<double> squares;
  for (double distance : distances) squares.push_back(distance * distance);
  std::vector<std::size_t> rows;
  for (const Refusal& refusal : screen(squares, f, limit, "distance").refused) {
    rows.push_back(refusal.row);
  }
  return rows;
}

TEST(Screen, TheNearestSetTheScale) {
  // Without the two farthest, the scale is 3.
  EXPECT_EQ(refused({1, 2, 3, 30, 31}, 2, 10), (std::vector<std::size_t>{4}));
  EXPECT_EQ(refused({30.5, 1, 2, 3, 31}, 2, 10), (std::vector<std::size_t>{0, 4}));
  // Told of one attacker, it is 30.
  EXPECT_TRUE(refused({1, 2, 3, 30, 31}, 1, 10).empty());
  EXPECT_TRUE(refused({1, 2, 3, 4, 1e30}, 0, 10).empty());
}

TEST(Screen, AtMostFAreRefused) {
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_LE(refused({0, 1, 1e9, 1e18, 1e27, 1e36, 1e45, 1e54}, f, 2).size(), f);
  }
}

TEST(Screen, WithoutAMajorityNobodyIsFar) {
  EXPECT_TRUE(refused({0, 1, 1e9, 1e18}, 2, 2).empty());
  EXPECT_TRUE(refused({}, 0, 2).empty());
}

TEST(Screen, NotANumberIsFar) {
  const double nan = std::nan("");
  EXPECT_EQ(refused({1, nan, 1, 1, 1}, 1, 2), (std::vector<std::size_t>{1}));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refused({1, 1, 1, infinity, 1}, 1, 2), (std::vector<std::size_t>{3}));
}

TEST(Screen, SaysHowFarTheRestIs) {
  const std::vector<double> squares = {1, 4, 9, 36, 1e6};
  const Screen result = screen(squares, 2, 10, "distance from the centre of the clients");
  EXPECT_EQ(result.farthest, 2);
  ASSERT_EQ(result.refused.size(), 1U);
  EXPECT_EQ(result.refused[0].reason,
            "refused: its distance from the centre of the clients is 1e+03, more than 10 times "
            "that of the 3 nearest clients (3)");
  EXPECT_EQ(screen(std::vector<double>{0, 0, 0, 0, 5}, 1, 10, "distance").farthest, 0);
}

}  // namespace
}  // namespace boba
