#include "simulator/partition/step.h"

#include <gtest/gtest.h>

#include "tests/support/partition_deal.h"

namespace boba::testing {
using namespace sim;  // NOLINT
namespace {

Table table_of(std::string_view spec, const std::vector<std::size_t>& counts, std::size_t clients) {
  const Labels labels = sorted_labels(counts);
  const auto partition = deal(spec, labels, counts.size(), clients);
  EXPECT_TRUE(partition) << partition.error().message;
  return label_table(*partition, labels, counts.size());
}

TEST(Step, ByHand) {
  // alpha = 3, pairs (0,0), (0,1), (1,0), (1,1): weights of class 0 are 5, 3, 3, 1, together 12.
  EXPECT_EQ(table_of("step(alpha=3)", {24, 36}, 4), (Table{{10, 3}, {6, 9}, {6, 9}, {2, 15}}));
}

TEST(Step, OneIsIid) {
  for (const auto& row : table_of("step(alpha=1)", {36, 18, 9}, 9)) {
    EXPECT_EQ(row, (std::vector<std::size_t>{4, 2, 1}));
  }
}

TEST(Step, InfinityIsPairs) {
  for (const auto& counts : {std::vector<std::size_t>{100, 73, 251}, {1, 1, 30}, {0, 9, 9}}) {
    const Labels labels = mixed_labels(counts, 4);
    const auto pairs = deal("pairs", labels, 3, 9);
    ASSERT_TRUE(pairs);
    for (const char* spec : {"step(alpha=inf)", "step(alpha=1e300)", "step(alpha=1e15)"}) {
      EXPECT_EQ(deal(spec, labels, 3, 9)->clients, pairs->clients) << spec;
    }
  }
}

TEST(Step, OneMajor) {
  // Weights 4 and 1, 1.
  EXPECT_EQ(table_of("step(majors=1,alpha=4)", {60, 60, 60}, 3),
            (Table{{40, 10, 10}, {10, 40, 10}, {10, 10, 40}}));
  // A multiple of the classes is enough.
  EXPECT_EQ(table_of("step(majors=1,alpha=inf)", {10, 10}, 4),
            (Table{{5, 0}, {0, 5}, {5, 0}, {0, 5}}));
}

TEST(Step, EveryClassStandsEquallyOftenInEveryPlace) {
  // The third major of the pair (a, b) is (a + b) mod 3, the fourth (a + 2b) mod 3.
  const Table three = table_of("step(majors=3,alpha=inf)", {90, 90, 90}, 9);
  EXPECT_EQ(three[0], (std::vector<std::size_t>{30, 0, 0}));    // 0, 0, 0
  EXPECT_EQ(three[1], (std::vector<std::size_t>{10, 20, 0}));   // 0, 1, 1
  EXPECT_EQ(three[5], (std::vector<std::size_t>{10, 10, 10}));  // 1, 2, 0
  const Table four = table_of("step(majors=4,alpha=inf)", {120, 120, 120}, 9);
  EXPECT_EQ(four[5], (std::vector<std::size_t>{10, 10, 20}));  // 1, 2, 0, 2
  for (const auto& row : four) EXPECT_EQ(row[0] + row[1] + row[2], 40u);
}

TEST(Step, SaysWhichCountsAreAllowed) {
  const Labels labels = mixed_labels({100, 100, 100}, 1);
  EXPECT_EQ(error_of(deal("step", labels, 3, 12)),
            "step needs a multiple of 9 clients, one for each ordered pair of 3 classes; got 12; "
            "use 9 or 18");
  EXPECT_EQ(error_of(deal("step(majors=1)", labels, 3, 10)),
            "step needs a multiple of 3 clients, one for each of 3 classes; got 10; use 9 or 12");
}

}  // namespace
}  // namespace boba::testing
