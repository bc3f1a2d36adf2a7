#include "simulator/partition/pairs.h"

#include <gtest/gtest.h>

#include "tests/support/partition_deal.h"

namespace boba::testing {
using namespace sim;  // NOLINT
namespace {

TEST(Pairs, ByHand) {
  // Two classes of eight; pairs (0,0), (0,1), (1,0), (1,1). Each class stands four times: twice in
  // its own pair, once in each mixed one, so an occurrence is worth two examples, in order.
  const Labels labels = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  const auto partition = deal("pairs", labels, 2, 4);
  ASSERT_TRUE(partition) << partition.error().message;
  EXPECT_EQ(partition->clients,
            (Clients{{0, 2, 4, 6}, {1, 3, 8, 10}, {5, 7, 12, 14}, {9, 11, 13, 15}}));
}

TEST(Pairs, ShuffledTheSameSharesOfOtherExamples) {
  const std::vector<std::size_t> counts = {400, 600};
  const Labels labels = sorted_labels(counts);
  const auto file = deal("pairs", labels, 2, 4, 1);
  const auto one = deal("pairs(order=shuffled)", labels, 2, 4, 1);
  const auto two = deal("pairs(order=shuffled)", labels, 2, 4, 2);
  ASSERT_TRUE(file && one && two);
  expect_complete(*one, 4, 1000);
  EXPECT_EQ(label_table(*one, labels, 2), label_table(*file, labels, 2));
  EXPECT_EQ(one->clients, deal("pairs(order=shuffled)", labels, 2, 4, 1)->clients);
  EXPECT_NE(one->clients, two->clients);
  EXPECT_EQ(file->clients, deal("pairs(order=file)", labels, 2, 4, 2)->clients);
  // In the order of the file the first client has the first 200 of class 0, whose mean place is
  // 99.5; a random half of 400 has one of 199.5, with a standard deviation of 5.8.
  double sum = 0;
  for (const std::uint32_t i : one->clients[0]) sum += i;
  EXPECT_NEAR(sum / 200, 199.5, 30);
}

TEST(Pairs, EndsOfPiecesAreRounded) {
  // Class 0 has five examples: pieces of weight 2, 1, 1 end at 2.5, 3.75 and 5, rounded to 3, 4, 5.
  const auto partition = deal("pairs", sorted_labels({5, 8}), 2, 4);
  ASSERT_TRUE(partition);
  EXPECT_EQ(partition->clients, (Clients{{0, 1, 2}, {3, 5, 6}, {4, 7, 8}, {9, 10, 11, 12}}));
}

TEST(Pairs, ThePapersSizes) {
  // MNIST's shape: 10 classes, 100 clients; client 10a + b holds classes a and b only.
  const std::vector<std::size_t> counts = {5923, 6742, 5958, 6131, 5842,
                                           5421, 5918, 6265, 5851, 5949};
  const Labels labels = mixed_labels(counts, 3);
  const auto partition = deal("pairs", labels, 10, 100);
  ASSERT_TRUE(partition);
  expect_complete(*partition, 100, 60'000);
  const Table table = label_table(*partition, labels, 10);
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t z = 0; z < 10; ++z) {
      const std::size_t stands = (i / 10 == z ? 1u : 0u) + (i % 10 == z ? 1u : 0u);
      const double share = static_cast<double>(counts[z] * stands) / 20;
      EXPECT_NEAR(static_cast<double>(table[i][z]), share, stands == 0 ? 0 : 1);
    }
  }
}

TEST(Pairs, MoreClientsForAPair) {
  const auto partition = deal("pairs", sorted_labels({16, 16}), 2, 8);
  ASSERT_TRUE(partition);
  const Table table = label_table(*partition, sorted_labels({16, 16}), 2);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(table[i], table[i + 4]);
  EXPECT_EQ(table[0], (std::vector<std::size_t>{4, 0}));
  EXPECT_EQ(table[1], (std::vector<std::size_t>{2, 2}));
}

TEST(Pairs, AStarvedClientGetsOneFromTheRichest) {
  // Class 0 has no examples: the client of (0,0) gets the last one of the client of (1,1).
  const auto partition = deal("pairs", sorted_labels({0, 8}), 2, 4);
  ASSERT_TRUE(partition);
  EXPECT_EQ(partition->clients, (Clients{{7}, {0, 1}, {2, 3}, {4, 5, 6}}));
}

TEST(Pairs, SaysWhichCountsAreAllowed) {
  const Labels labels = mixed_labels({100, 100, 100}, 1);
  EXPECT_EQ(
      error_of(deal("pairs", labels, 3, 10)),
      "pairs needs a multiple of 9 clients, one for each ordered pair of 3 classes; got 10; use 9 "
      "or 18");
  EXPECT_EQ(
      error_of(deal("pairs", labels, 3, 5)),
      "pairs needs a multiple of 9 clients, one for each ordered pair of 3 classes; got 5; use 9");
}

}  // namespace
}  // namespace boba::testing
