#include "simulator/partition/iid.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/partition_deal.h"

namespace boba::testing {
using namespace sim;  // NOLINT
namespace {

TEST(Iid, SizesDifferByAtMostOne) {
  const Labels labels(103, 0);
  const auto partition = deal("iid", labels, 1, 10);
  ASSERT_TRUE(partition);
  expect_complete(*partition, 10, 103);
  for (const auto& mine : partition->clients) {
    EXPECT_GE(mine.size(), 10u);
    EXPECT_LE(mine.size(), 11u);
  }
}

TEST(Iid, CutsThePermutationOfTheSeed) {
  const Labels labels(12, 0);
  const auto partition = deal("iid", labels, 1, 3, 9);
  ASSERT_TRUE(partition);
  const auto order = permutation({.seed = 9, .purpose = Purpose::kPartition}, 12);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::uint32_t> piece;
    for (std::size_t k = 4 * i; k < 4 * i + 4; ++k) {
      piece.push_back(static_cast<std::uint32_t>(order[k]));
    }
    std::sort(piece.begin(), piece.end());
    EXPECT_EQ(partition->clients[i], piece);
  }
}

TEST(Iid, EveryClientHasTheMixOfAll) {
  // Sorted labels, so that a scheme that forgot the permutation would be seen.
  const std::vector<std::size_t> counts = {20'000, 10'000, 10'000};
  const Labels labels = sorted_labels(counts);
  const auto partition = deal("iid", labels, 3, 10, 1);
  ASSERT_TRUE(partition);
  for (const auto& row : label_table(*partition, labels, 3)) {
    // Five standard deviations of a binomial with 4000 trials are an upper bound.
    EXPECT_NEAR(static_cast<double>(row[0]), 2000, 5 * std::sqrt(4000 * 0.5 * 0.5));
    EXPECT_NEAR(static_cast<double>(row[1]), 1000, 5 * std::sqrt(4000 * 0.25 * 0.75));
  }
}

}  // namespace
}  // namespace boba::testing
