#include "boba/core/round.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace boba {
namespace {

struct Fixture {
  UpdateMatrix updates{DType::kFloat32, 3, 4};
  UpdateMatrix server{DType::kFloat32, 2, 4};
  std::vector<double> counts = {10, 30};

  Round round() const {
    Round round;
    round.updates = updates.view();
    round.server = server.view();
    round.server_counts = counts;
    return round;
  }
};

std::string error_of(const Round& round) {
  const auto result = check(round);
  return result ? "good" : result.error().message;
}

TEST(CheckRound, TakesAGoodRound) {
  const Fixture fixture;
  EXPECT_EQ(error_of(fixture.round()), "good");
  Round bare;
  bare.updates = fixture.updates.view();
  EXPECT_EQ(error_of(bare), "good");
}

TEST(CheckRound, NeedsUpdatesWithALength) {
  EXPECT_EQ(error_of(Round{}), "round: no updates came; at least one is needed");
  const UpdateMatrix empty(DType::kFloat32, 2, 0);
  Round round;
  round.updates = empty.view();
  EXPECT_EQ(error_of(round), "round: the updates have length 0");
}

TEST(CheckRound, NeedsAnIdForEachUpdate) {
  const Fixture fixture;
  const std::vector<std::string> ids = {"a", "b"};
  Round round = fixture.round();
  round.ids = ids;
  EXPECT_EQ(error_of(round), "round: 2 client ids for 3 updates");
}

TEST(CheckRound, NeedsOneLengthAndOneType) {
  const Fixture fixture;
  const UpdateMatrix longer(DType::kFloat32, 1, 5);
  const UpdateMatrix wider(DType::kFloat64, 1, 4);
  Round round = fixture.round();
  round.server = longer.view();
  round.server_counts = {};
  EXPECT_EQ(error_of(round), "round: a server gradient has length 5, the updates have length 4");
  round.server = wider.view();
  EXPECT_EQ(error_of(round),
            "round: a server gradient is float64, the updates are float32; both must be alike");
  round = fixture.round();
  round.server_whole = longer.view();
  EXPECT_EQ(error_of(round),
            "round: the whole server gradient has length 5, the updates have length 4");
  round = fixture.round();
  round.model = wider.view();
  EXPECT_EQ(error_of(round),
            "round: the model is float64, the updates are float32; both must be alike");
}

TEST(CheckRound, WholeGradientAndModelAreSingleRows) {
  const Fixture fixture;
  const std::string message = "round: server_whole and model are single rows";
  Round round = fixture.round();
  round.server_whole = fixture.server.view();
  EXPECT_EQ(error_of(round), message);
  round = fixture.round();
  round.model = fixture.server.view();
  EXPECT_EQ(error_of(round), message);
}

TEST(CheckRound, CountsArePositiveNumbersOnePerServerRow) {
  Fixture fixture;
  fixture.counts = {1, 2, 3};
  EXPECT_EQ(error_of(fixture.round()), "round: 3 server counts for 2 server gradients");
  for (double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                     std::numeric_limits<double>::infinity()}) {
    fixture.counts = {1, bad};
    EXPECT_NE(error_of(fixture.round()).find("counts are positive numbers"), std::string::npos);
  }
}

TEST(CheckRound, WhatIsKnownOnArrivalFitsTheRows) {
  const Fixture fixture;
  Round round = fixture.round();
  std::vector<double> products(25, 0.0);
  round.products = products;
  EXPECT_EQ(error_of(round), "good");
  for (std::size_t size : {1, 9, 24, 26}) {
    products.assign(size, 0.0);
    round.products = products;
    EXPECT_EQ(error_of(round), "round: " + std::to_string(size) +
                                   " products; 3 updates and 2 server gradients have 5 by 5");
  }
  round.products = {};
  const std::vector<Refusal> good = {{0, "x"}, {2, "y"}};
  round.refused = good;
  EXPECT_EQ(error_of(round), "good");
  const std::vector<Refusal> beyond = {{0, "x"}, {3, "y"}};
  round.refused = beyond;
  EXPECT_EQ(error_of(round), "round: row 3 is among the refused; there are 3 updates");
  for (std::size_t second : {0, 1}) {
    const std::vector<Refusal> falling = {{1, "x"}, {second, "y"}};
    round.refused = falling;
    EXPECT_EQ(error_of(round),
              "round: refused rows must rise; " + std::to_string(second) + " comes after 1");
  }
}

TEST(RepeatedIds, NamesAllButTheFirst) {
  const std::vector<std::string> ids = {"a", "b", "a", "c", "b", "a"};
  EXPECT_EQ(repeated_ids(ids), (std::vector<std::size_t>{2, 4, 5}));
  EXPECT_TRUE(repeated_ids({}).empty());
}

TEST(ServerShares, AreCountsOverTheirSum) {
  const Fixture fixture;
  EXPECT_EQ(server_shares(fixture.round()), (std::vector<double>{0.25, 0.75}));
}

TEST(ServerShares, AreEqualWithoutCounts) {
  const Fixture fixture;
  Round round = fixture.round();
  round.server_counts = {};
  EXPECT_EQ(server_shares(round), (std::vector<double>{0.5, 0.5}));
  round.server = {};
  EXPECT_TRUE(server_shares(round).empty());
}

}  // namespace
}  // namespace boba
