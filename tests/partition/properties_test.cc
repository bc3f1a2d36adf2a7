// What holds for every partition.
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/partition_deal.h"

namespace boba::testing {
using namespace sim;  // NOLINT
namespace {

// Every partition as it is and with each other choice of an option, and some with other numbers.
std::vector<std::string> specs() {
  std::vector<std::string> all = {"step(alpha=4,order=shuffled)",
                                  "step(majors=1)",
                                  "step(majors=3,alpha=inf)",
                                  "dirichlet(alpha=1e-06)",
                                  "shards(per_client=1)",
                                  "dirichlet(alpha=100)",
                                  "step(alpha=1e300)"};
  for (const PartitionEntry& entry : partitions()) {
    const std::string name(entry.info.name);
    all.push_back(name);
    for (const OptionInfo& option : entry.options()) {
      for (const std::string& choice : option.choices) {
        if (choice == option.default_value) continue;
        all.push_back(name + "(" + option.name + "=" + choice + ")");
      }
    }
  }
  return all;
}

class PartitionProperties : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, PartitionProperties, ::testing::ValuesIn(specs()));

TEST_P(PartitionProperties, UseEveryExampleOnce) {
  const std::vector<std::vector<std::size_t>> shapes = {{40, 40, 40}, {1, 50, 200}, {9, 9, 9},
                                                        {0, 60, 61},  {100, 0, 0},  {3, 3, 3}};
  for (const auto& counts : shapes) {
    const Labels labels = mixed_labels(counts, 5);
    for (const std::size_t clients : {9u, 18u}) {
      if (labels.size() < 2 * clients) continue;
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto partition = deal(GetParam(), labels, 3, clients, seed);
        ASSERT_TRUE(partition) << partition.error().message;
        expect_complete(*partition, clients, labels.size());
      }
    }
  }
}

TEST_P(PartitionProperties, AsManyClientsAsExamples) {
  const Labels labels = mixed_labels({3, 3, 3}, 1);
  const auto partition = deal(GetParam(), labels, 3, 9);
  if (GetParam() == "shards") {
    // Two shards for each client are two examples at least.
    EXPECT_FALSE(partition);
    return;
  }
  ASSERT_TRUE(partition) << partition.error().message;
  expect_complete(*partition, 9, 9);
}

TEST_P(PartitionProperties, OneClassAndOneClient) {
  const Labels labels(12, 0);
  const auto partition = deal(GetParam(), labels, 1, 1);
  ASSERT_TRUE(partition) << partition.error().message;
  expect_complete(*partition, 1, 12);
}

TEST_P(PartitionProperties, SameSeedSamePartitionOnEveryThread) {
  const Labels labels = mixed_labels({70, 80, 90}, 2);
  const auto first = deal(GetParam(), labels, 3, 18, 11);
  ASSERT_TRUE(first);
  const auto scheme = make_partition(GetParam())->scheme;
  std::vector<Clients> got(4);
  std::vector<std::thread> threads;
  for (Clients& mine : got) {
    threads.emplace_back([&] {
      mine = scheme->deal({.labels = labels, .classes = 3, .clients = 18, .seed = 11})->clients;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Clients& mine : got) EXPECT_EQ(mine, first->clients);
}

TEST_P(PartitionProperties, RefusesWhatCannotBeDealt) {
  const std::string name = GetParam().substr(0, GetParam().find('('));
  const Labels labels = mixed_labels({30, 30, 30}, 2);
  EXPECT_EQ(error_of(deal(GetParam(), labels, 3, 0)), name + " needs at least 1 client; got 0");
  EXPECT_EQ(error_of(deal(GetParam(), labels, 0, 9)), name + " needs 1 to 256 classes; got 0");
  EXPECT_EQ(error_of(deal(GetParam(), labels, std::size_t{1} << 62, 9)),
            name + " needs 1 to 256 classes; got 4611686018427387904");
  EXPECT_EQ(error_of(deal(GetParam(), {}, 3, 9)),
            name + " needs an example for each client; got 0 examples for 9 clients");
  EXPECT_EQ(error_of(deal(GetParam(), labels, 3, 99)),
            name + " needs an example for each client; got 90 examples for 99 clients");
  EXPECT_EQ(error_of(deal(GetParam(), labels, 3, std::size_t(-1))),
            name +
                " needs an example for each client; got 90 examples for "
                "18446744073709551615 clients");
  Labels wrong = labels;
  wrong[7] = 3;
  EXPECT_EQ(error_of(deal(GetParam(), wrong, 3, 9)),
            name + " needs labels below 3 classes; example 7 has label 3");
}

TEST(Partition, TheSeedMattersWhereSomethingIsDrawn) {
  const Labels labels = mixed_labels({70, 80, 90}, 2);
  for (const char* spec : {"iid", "shards", "dirichlet", "dirichlet(alpha=10)",
                           "pairs(order=shuffled)", "step(alpha=4,order=shuffled)"}) {
    EXPECT_NE(deal(spec, labels, 3, 9, 1)->clients, deal(spec, labels, 3, 9, 2)->clients) << spec;
  }
  for (const char* spec : {"pairs", "step", "step(majors=1,alpha=3)"}) {
    EXPECT_EQ(deal(spec, labels, 3, 9, 1)->clients, deal(spec, labels, 3, 9, 2)->clients) << spec;
  }
}

TEST(Partition, LabelTableCounts) {
  const Partition partition{{{0, 3}, {1, 2, 4}}};
  const Labels labels = {1, 0, 0, 1, 2};
  EXPECT_EQ(label_table(partition, labels, 3), (Table{{0, 2, 0}, {2, 0, 1}}));
}

}  // namespace
}  // namespace boba::testing
