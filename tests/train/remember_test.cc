// Federations whose rule remembers its clients: checkpoints, new ids, and the attacks that the
// published rule does not survive.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/data/catalogue.h"
#include "simulator/train/simulation.h"
#include "tests/support/experiment_make.h"
#include "tests/support/sim_experiments.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

std::vector<RoundEntry> run(const Experiment& experiment, const Dataset& data,
                            const std::string& checkpoint = "") {
  auto simulation = make_simulation(test::resolved(experiment), data, {.threads = 2}, "test");
  EXPECT_TRUE(simulation.ok()) << simulation.error().message;
  if (!checkpoint.empty()) {
    EXPECT_TRUE((*simulation)->restore(checkpoint).ok());
  }
  std::vector<RoundEntry> entries;
  while (!(*simulation)->done()) {
    auto entry = (*simulation)->step();
    EXPECT_TRUE(entry.ok()) << entry.error().message;
    if (!entry) break;
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Experiment remembering() {
  Experiment e = test::small_experiment();
  e.rule = "boba-hull(f=2)";
  e.attack = "ipm | noise";
  e.training.rounds = 9;
  return e;
}

TEST(Remember, ResumedRunsEndWithTheSameBytes) {
  const Dataset data = test::small_dataset();
  for (const char* rule : {"boba-hull(f=2)", "boba-hull(f=2,classes=3)"}) {
    Experiment e = remembering();
    e.rule = rule;
    const auto whole = run(e, data);
    ASSERT_EQ(whole.size(), 9U);
    for (std::size_t k = 0; k + 1 < whole.size(); ++k) {
      const auto rest = run(e, data, whole[k].checkpoint);
      ASSERT_EQ(rest.size(), whole.size() - k - 1);
      EXPECT_EQ(rest.back().checkpoint, whole.back().checkpoint) << rule << " after " << k + 1;
    }
  }
}

// With new ids the memory holds every attacker of every round; with kept ids each of them once.
TEST(Remember, AttackersMayComeWithNewIds) {
  const Dataset data = test::small_dataset();
  Experiment e = remembering();
  const auto kept = run(e, data);
  e.federation.byzantine_ids = ByzantineIds::kNew;
  EXPECT_NE(test::canonical_text(e).find("federation.byzantine_ids = new"), std::string::npos);
  const auto renewed = run(e, data);
  EXPECT_GT(renewed.back().checkpoint.size(), kept.back().checkpoint.size());
  // It matters to rules that remember alone, and is left out where it does not.
  e.rule = "krum(f=2)";
  EXPECT_EQ(test::canonical_text(e).find("byzantine_ids"), std::string::npos);
}

// The attackers send what the published rule just accepts, and differ enough not to be copies.
TEST(Remember, HullKeepsWhatThePublishedRuleLoses) {
  const Dataset data = *load_dataset("synthetic", {});
  Experiment e;
  e.attack = "simplex | noise";
  e.data.set = "synthetic";
  e.data.partition = "shards(per_client=2)";
  e.model.kind = "mlp(width=32,depth=1)";
  e.training.rounds = 40;
  e.training.learning_rate = 0.5;
  e.federation.honest = 20;
  e.federation.byzantine = 3;
  e.server.per_class = 10;
  e.run.evaluate_every = 40;
  for (const std::uint64_t seed : {1U, 2U}) {
    e.seed = seed;
    e.rule = "boba(f=3)";
    EXPECT_LT(run(e, data).back().evaluation->accuracy, 0.7) << seed;
    for (const char* rule : {"boba-hull(f=3)", "boba-hull(f=3,classes=10)"}) {
      e.rule = rule;
      EXPECT_GT(run(e, data).back().evaluation->accuracy, 0.85) << rule << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace boba
