// The stages behind an attack, and several attacks at once.
#include <gtest/gtest.h>

#include <cmath>

#include "boba/core/copies.h"
#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

constexpr std::size_t kHonest = 9;
constexpr std::size_t kLength = 4000;

TEST(AttackNoise, HasTheNormItReports) {
  const AttackRows<double> honest(random_rows<double>(kHonest, kLength, 3));
  std::vector<double> nearest;
  for (std::size_t i = 0; i < kHonest; ++i) {
    double least = 1e300;
    for (std::size_t j = 0; j < kHonest; ++j) {
      if (j != i) least = std::min(least, sq_distance(honest.rows[i], honest.rows[j]));
    }
    nearest.push_back(std::sqrt(least));
  }
  std::sort(nearest.begin(), nearest.end());
  const auto plain = forge("ipm", honest, 3);
  for (const double size : {0.1, 2.0}) {
    const auto forged = forge("ipm | noise(size=" + std::to_string(size) + ")", honest, 3);
    ASSERT_TRUE(forged.ok) << forged.error.message;
    const double norm = size * nearest[kHonest / 2];
    EXPECT_NEAR(forged.measure("noise"), norm, 1e-9 * norm);
    EXPECT_EQ(forged.measure("gamma"), 10);
    for (std::size_t j = 0; j < 3; ++j) {
      // The norm of 4,000 normal numbers varies by about 1.1 %.
      EXPECT_NEAR(std::sqrt(sq_distance(forged.rows[j], plain.rows[j])), norm, 0.06 * norm);
      const double apart = std::sqrt(sq_distance(forged.rows[j], forged.rows[(j + 1) % 3]));
      EXPECT_NEAR(apart, std::sqrt(2) * norm, 0.06 * norm);
      EXPECT_GT(apart, kNearCopy * nearest[kHonest / 2]);
    }
  }
  EXPECT_EQ(forge("ipm | noise(size=0)", honest, 3).rows, plain.rows);
}

TEST(AttackNoise, ChangesFromRoundToRound) {
  const AttackRows<double> honest(random_rows<double>(kHonest, 50, 3));
  const auto first = forge("ipm | noise", honest, 2, {.seed = 1, .number = 1});
  EXPECT_EQ(first.rows, forge("ipm | noise", honest, 2, {.seed = 1, .number = 1}).rows);
  EXPECT_NE(first.rows, forge("ipm | noise", honest, 2, {.seed = 1, .number = 2}).rows);
  EXPECT_NE(first.rows, forge("ipm | noise", honest, 2, {.seed = 2, .number = 1}).rows);
}

TEST(AttackSleeper, SendsMeansOfTwoHonestUpdatesUntilItWakes) {
  const AttackRows<double> honest(random_rows<double>(kHonest, 50, 5));
  for (const std::uint32_t number : {1U, 7U}) {
    const auto forged = forge("ipm | sleeper(rounds=7)", honest, 11, {.number = number});
    ASSERT_TRUE(forged.ok) << forged.error.message;
    EXPECT_EQ(forged.measure("asleep"), 1);
    for (std::size_t j = 0; j < 11; ++j) {
      const auto& one = honest.rows[j % kHonest];
      const auto& two = honest.rows[(j + 4) % kHonest];
      for (std::size_t k = 0; k < 50; ++k) {
        EXPECT_DOUBLE_EQ(forged.rows[j][k], (one[k] + two[k]) / 2);
      }
    }
  }
  const auto awake = forge("ipm | sleeper(rounds=7)", honest, 11, {.number = 8});
  EXPECT_EQ(awake.rows, forge("ipm", honest, 11).rows);
  EXPECT_TRUE(std::isnan(awake.measure("asleep")));
}

TEST(AttacksTogether, DealTheClientsEvenlyInTheirOrder) {
  const AttackRows<double> honest(random_rows<double>(kHonest, 50, 6));
  const auto ipm = forge("ipm", honest, 1).rows[0];
  const auto zero = forge("zero", honest, 1).rows[0];
  const auto copy = forge("mimic(client=2)", honest, 1).rows[0];
  const auto forged = forge("ipm + zero + mimic(client=2)", honest, 7);
  ASSERT_TRUE(forged.ok) << forged.error.message;
  const std::vector<std::vector<double>> expected = {ipm, ipm, ipm, zero, zero, copy, copy};
  EXPECT_EQ(forged.rows, expected);
  // Fewer clients than attacks: the first attacks have one each.
  EXPECT_EQ(forge("ipm + zero + mimic(client=2)", honest, 1).rows[0], ipm);
  EXPECT_EQ(forge("ipm + zero", honest, 3).rows[1], ipm);
}

TEST(AttacksTogether, AskForAllThatOneNeeds) {
  const auto made = [](const char* spec) { return make_attack(spec)->attack; };
  EXPECT_FALSE(made("zero + nan")->looks_at_honest());
  EXPECT_FALSE(made("ipm + nan")->sends_numbers());
  EXPECT_TRUE(made("ipm + nan")->looks_at_honest());
  EXPECT_TRUE(made("ipm + simplex")->looks_at_server());
  EXPECT_TRUE(made("simplex | noise | sleeper")->looks_at_server());
  EXPECT_FALSE(made("simplex(classes=3) | noise")->looks_at_server());
  EXPECT_FALSE(made("ipm + mimic(client=4)")->admits(4, 2).ok());
  EXPECT_TRUE(made("ipm + mimic(client=4)")->admits(5, 2).ok());
}

}  // namespace
}  // namespace boba::testing
