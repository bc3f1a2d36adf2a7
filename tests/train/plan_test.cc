#include "simulator/train/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/experiment_make.h"
#include "tests/support/sim_experiments.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

TEST(KeepShare, TakesTheSameShareOfEachClass) {
  std::vector<std::uint8_t> labels;
  for (int i = 0; i < 900; ++i) labels.push_back(i % 3 == 0 ? 0 : 1);  // 300 and 600
  const auto kept = keep_share(labels, 2, 90, 1, 0);
  EXPECT_EQ(kept.size(), 90U);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(std::set<std::uint32_t>(kept.begin(), kept.end()).size(), 90U);
  EXPECT_EQ(std::count_if(kept.begin(), kept.end(), [&](auto i) { return labels[i] == 0; }), 30);
  EXPECT_NE(kept, keep_share(labels, 2, 90, 2, 0));
  EXPECT_NE(kept, keep_share(labels, 2, 90, 1, 1));
  EXPECT_EQ(keep_share(labels, 2, 0, 1, 0).size(), 900U);
  EXPECT_EQ(keep_share(labels, 2, 5000, 1, 0).size(), 900U);
}

TEST(Plan, DealsEveryExampleOnceAndServesTheServer) {
  const Dataset data = test::small_dataset();
  const auto plan = make_plan(test::resolved(test::small_experiment()), data);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  std::multiset<std::uint32_t> dealt;
  for (const ShardPlan& shard : plan->honest)
    dealt.insert(shard.examples.begin(), shard.examples.end());
  EXPECT_EQ(dealt.size(), data.train.count());
  EXPECT_EQ(std::set<std::uint32_t>(dealt.begin(), dealt.end()).size(), dealt.size());
  ASSERT_EQ(plan->server.size(), 3U);
  for (std::size_t z = 0; z < 3; ++z) {
    EXPECT_EQ(plan->server[z].examples.size(), 4U);
    for (const auto example : plan->server[z].examples) EXPECT_EQ(data.train.labels[example], z);
  }
  EXPECT_EQ(plan->server_examples(), 12U);
  EXPECT_EQ(plan->test.size(), data.test.count());
  ASSERT_EQ(plan->clients.size(), 11U);
  EXPECT_EQ(plan->clients[1].labels, (std::vector<std::size_t>{6, 6, 0}));
  EXPECT_FALSE(plan->clients[10].honest);
  EXPECT_FALSE(plan->flipped);
}

TEST(Plan, ServerSamplesDependOnTheSeed) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  const auto first = make_plan(test::resolved(e), data);
  e.seed = 6;
  const auto second = make_plan(test::resolved(e), data);
  EXPECT_NE(first->server[0].examples, second->server[0].examples);
}

TEST(Plan, UnbalancedServerData) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.server.counts = "5, 1,2";
  const auto plan = make_plan(test::resolved(e), data);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->server[0].examples.size(), 5U);
  EXPECT_EQ(plan->server[1].examples.size(), 1U);
  EXPECT_EQ(plan->server[2].examples.size(), 2U);
  for (const char* counts : {"5,1", "5,1,2,2", "5,1,0", "5,1,37", "5,x,2", "-1,2,3"}) {
    e.server.counts = counts;
    const auto resolved = resolve(e);
    EXPECT_FALSE(resolved && make_plan(*resolved, data)) << counts;
  }
}

// The samples of a class are the same, cut in order.
TEST(Plan, CutsServerDataIntoThePartsThatTheRuleWants) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.server.counts = "5,3,4";
  const auto whole = make_plan(test::resolved(e), data);
  for (const std::size_t parts : {2U, 3U}) {
    e.rule = "boba(f=2,parts=" + std::to_string(parts) + ")";
    const auto plan = make_plan(test::resolved(e), data);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    ASSERT_EQ(plan->server.size(), 3 * parts);
    for (std::size_t z = 0; z < 3; ++z) {
      std::vector<std::uint32_t> joined;
      for (std::size_t j = 0; j < parts; ++j) {
        const auto& examples = plan->server[z * parts + j].examples;
        EXPECT_LE(examples.size(), whole->server[z].examples.size() / parts + 1);
        EXPECT_GE(examples.size(), 1U);
        joined.insert(joined.end(), examples.begin(), examples.end());
      }
      EXPECT_EQ(joined, whole->server[z].examples);
    }
  }
  e.rule = "boba(f=2,parts=4)";
  const auto few = make_plan(test::resolved(e), data);
  ASSERT_FALSE(few.ok());
  EXPECT_NE(few.error().message.find("hold 3 samples of class"), std::string::npos);
  EXPECT_NE(few.error().message.find("between 4 and"), std::string::npos);
}

TEST(Plan, NoServerDataWhereNoneIsAskedFor) {
  Experiment e = test::small_experiment();
  e.rule = "average";
  e.server.per_class = 0;
  const auto plan = make_plan(test::resolved(e), test::small_dataset());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(plan->server.empty());
}

TEST(Plan, LabelFlippersMirrorAnHonestClient) {
  Experiment e = test::small_experiment();
  e.attack = "labelflip";
  const auto plan = make_plan(test::resolved(e), test::small_dataset());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(plan->flipped);
  EXPECT_EQ(plan->clients[1].labels, (std::vector<std::size_t>{6, 6, 0}));
  EXPECT_EQ(plan->clients[10].labels, (std::vector<std::size_t>{0, 6, 6}));
}

TEST(Plan, CorruptionsGoRound) {
  Experiment e = test::small_experiment();
  e.data.corruption = "all";
  e.data.partition = "iid";
  e.federation.honest = 16;
  const auto plan = make_plan(test::resolved(e), test::small_dataset());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  std::set<std::string> names;
  for (const ShardPlan& shard : plan->honest) names.insert(shard.corruption);
  EXPECT_EQ(names.size(), 15U);
  EXPECT_EQ(plan->honest[0].corruption, plan->honest[15].corruption);
  EXPECT_EQ(plan->clients[3].corruption, plan->honest[3].corruption);
}

TEST(Plan, RefusesClientsWithoutExamples) {
  Experiment e = test::small_experiment();
  e.data.partition = "iid";
  e.data.train = 12;
  e.federation.honest = 13;
  EXPECT_FALSE(make_plan(test::resolved(e), test::small_dataset()).ok());
}

}  // namespace
}  // namespace boba
