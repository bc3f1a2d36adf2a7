#include "simulator/train/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "simulator/train/simulation.h"
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
  EXPECT_NE(few.error().message.find("the server needs 3 samples of class "), std::string::npos);
  EXPECT_NE(few.error().message.find("; allowed: 4 to "), std::string::npos);
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

// Texts of everything in a plan.
std::string text_of(const FederationPlan& plan) {
  std::string text = fmt::format("parts {}, flipped {}\n", plan.server_parts, plan.flipped);
  for (const auto* shards : {&plan.honest, &plan.server}) {
    for (const ShardPlan& shard : *shards) {
      text += fmt::format("{} {}\n", fmt::join(shard.examples, ","), shard.corruption);
    }
  }
  text += fmt::format("test {}\n", fmt::join(plan.test, ","));
  for (const ClientRecord& client : plan.clients) {
    text += fmt::format("{} {} {} {}\n", client.client, client.honest,
                        fmt::join(client.labels, ","), client.corruption);
  }
  return text;
}

// Runs with one key share a plan, so a key that misses what a plan depends on gives wrong numbers.
TEST(PlanKey, IsEqualForEqualPlansOnly) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.rule = "boba(f=2)";
  e.attack = "ipm";
  const auto key = [](const Experiment& each) { return plan_key(test::resolved(each)); };
  const auto plan = [&](const Experiment& each) {
    const auto made = make_plan(test::resolved(each), data);
    return made ? text_of(*made) : made.error().message;
  };
  const auto changed = [&](const auto& change) {
    Experiment other = e;
    change(other);
    return other;
  };
  const std::vector<Experiment> same = {
      changed([](Experiment& each) { each.rule = "boba-no-stage2(f=2)"; }),
      changed([](Experiment& each) { each.rule = "bucketing(s=2) | krum(f=1) | server-mix"; }),
      changed([](Experiment& each) { each.attack = "gauss"; }),
      changed([](Experiment& each) { each.training.rounds = 7; }),
      changed([](Experiment& each) { each.training.algorithm = Algorithm::kFedAvg; }),
      changed([](Experiment& each) { each.model.kind = "mlp(width=9)"; }),
      changed([](Experiment& each) { each.run.evaluate_every = 3; })};
  for (const Experiment& other : same) {
    EXPECT_EQ(key(other), key(e)) << other.rule << " " << other.attack;
    EXPECT_EQ(plan(other), plan(e));
  }
  const std::vector<Experiment> different = {
      changed([](Experiment& each) { each.rule = "average"; }),  // no server data
      changed([](Experiment& each) { each.rule = "boba(f=2,parts=2)"; }),
      changed([](Experiment& each) { each.attack = "none"; }),  // no Byzantine clients
      changed([](Experiment& each) { each.attack = "labelflip"; }),
      changed([](Experiment& each) { each.seed = 6; }),
      changed([](Experiment& each) { each.data.partition = "iid"; }),
      changed([](Experiment& each) { each.data.corruption = "fog"; }),
      changed([](Experiment& each) { each.data.train = 60; }),
      changed([](Experiment& each) { each.data.test = 12; }),
      changed([](Experiment& each) { each.federation.honest = 18; }),
      changed([](Experiment& each) { each.federation.byzantine = 1; }),
      changed([](Experiment& each) { each.server.per_class = 3; }),
      changed([](Experiment& each) { each.server.counts = "4,3,4"; }),
      changed([](Experiment& each) { each.server.noise = "fog"; })};
  for (const Experiment& other : different) {
    EXPECT_NE(plan(other), plan(e)) << canonical_text(test::resolved(other));
    EXPECT_NE(key(other), key(e)) << canonical_text(test::resolved(other));
  }
}

TEST(PlanKey, ASimulationTakesThePlanItIsGiven) {
  const Dataset data = test::small_dataset();
  const ResolvedExperiment e = test::resolved(test::small_experiment());
  auto plan = make_plan(e, data);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  plan->clients[0].corruption = "mark";
  const auto given = make_simulation(e, data, {}, "test",
                                     std::make_shared<const FederationPlan>(*std::move(plan)));
  ASSERT_TRUE(given.ok()) << given.error().message;
  EXPECT_EQ((*given)->clients()[0].corruption, "mark");
  const auto alone = make_simulation(e, data, {}, "test");
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  EXPECT_EQ((*alone)->clients()[0].corruption, "");
}

}  // namespace
}  // namespace boba
