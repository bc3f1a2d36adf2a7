#include "simulator/partition/shards.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/partition_deal.h"

namespace boba::testing {
using namespace sim;  // NOLINT
namespace {

TEST(Shards, ByHand) {
  // Four shards of one class each: {0,1}, {2,3} of class 0 and {4,5}, {6,7} of class 1.
  const Labels labels = sorted_labels({4, 4});
  bool mixed = false;
  bool pure = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto partition = deal("shards", labels, 2, 2, seed);
    ASSERT_TRUE(partition);
    for (const auto& mine : partition->clients) {
      ASSERT_EQ(mine.size(), 4u);
      EXPECT_EQ(mine[0] % 2, 0u);
      EXPECT_EQ(mine[1], mine[0] + 1);
      EXPECT_EQ(mine[2] % 2, 0u);
      EXPECT_EQ(mine[3], mine[2] + 1);
      (labels[mine[0]] == labels[mine[2]] ? pure : mixed) = true;
    }
  }
  EXPECT_TRUE(mixed && pure);
}

TEST(Shards, AClientHasAtMostItsShardsClasses) {
  const Labels labels = mixed_labels({600, 500, 400, 300, 200}, 3);
  for (const int each : {1, 2, 3}) {
    const auto partition =
        deal("shards(per_client=" + std::to_string(each) + ")", labels, 5, 20, 7);
    ASSERT_TRUE(partition);
    expect_complete(*partition, 20, 2000);
    for (const auto& row : label_table(*partition, labels, 5)) {
      EXPECT_LE(std::count_if(row.begin(), row.end(), [](std::size_t k) { return k > 0; }), each);
    }
  }
}

TEST(Shards, ClassesGetShardsByLargestRemainders) {
  // 10 shards of 100 examples: quotas 4.5, 4.4, 1.1, so 5, 4 and 1 shards.
  const Labels labels = sorted_labels({45, 44, 11});
  const auto partition = deal("shards(per_client=1)", labels, 3, 10);
  ASSERT_TRUE(partition);
  std::vector<std::vector<std::size_t>> sizes(3);
  for (const auto& mine : partition->clients) sizes[labels[mine[0]]].push_back(mine.size());
  EXPECT_EQ(sizes[0], std::vector<std::size_t>(5, 9));
  EXPECT_EQ(sizes[1], std::vector<std::size_t>(4, 11));
  EXPECT_EQ(sizes[2], std::vector<std::size_t>(1, 11));
}

TEST(Shards, ARareClassKeepsAShardOfItsOwn) {
  const Labels labels = sorted_labels({1, 1000, 1000});
  const auto partition = deal("shards(per_client=1)", labels, 3, 4);
  ASSERT_TRUE(partition);
  expect_complete(*partition, 4, 2001);
  std::size_t alone = 0;
  for (const auto& row : label_table(*partition, labels, 3)) {
    alone += row == std::vector<std::size_t>{1, 0, 0} ? 1 : 0;
  }
  EXPECT_EQ(alone, 1u);
}

TEST(Shards, SaysHowManyShardsThereMayBe) {
  const Labels labels = sorted_labels({4, 4, 4});
  EXPECT_EQ(error_of(deal("shards(per_client=5)", labels, 3, 3)),
            "shards needs 3 <= per_client * clients <= 12, the classes and the examples there are; "
            "got 5 * 3");
  EXPECT_EQ(error_of(deal("shards(per_client=1)", labels, 3, 2)),
            "shards needs 3 <= per_client * clients <= 12, the classes and the examples there are; "
            "got 1 * 2");
}

}  // namespace
}  // namespace boba::testing
