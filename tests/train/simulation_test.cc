// Whole federations: learning, attacks, the same bytes for any threads and after any pause.

#include "simulator/train/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/experiment_make.h"
#include "tests/support/rules_cases.h"
#include "tests/support/sim_experiments.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

std::unique_ptr<Simulation> simulation_of(const ResolvedExperiment& experiment, const Dataset& data,
                                          int threads = 2) {
  auto made = make_simulation(experiment, data, {.threads = threads}, "test");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return std::move(*made);
}

std::unique_ptr<Simulation> simulation_of(const Experiment& experiment, const Dataset& data,
                                          int threads = 2) {
  return simulation_of(test::resolved(experiment), data, threads);
}

// All rounds; the entries in order.
std::vector<RoundEntry> finish(Simulation& simulation) {
  std::vector<RoundEntry> entries;
  while (!simulation.done()) {
    auto entry = simulation.step();
    EXPECT_TRUE(entry.ok()) << entry.error().message;
    if (!entry) break;
    entries.push_back(std::move(*entry));
  }
  return entries;
}

std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

TEST(Simulation, LearnsUnderAttackWithBobaAndNotWithTheAverage) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.training.rounds = 40;
  e.training.learning_rate = 0.3;
  const double boba = finish(*simulation_of(e, data)).back().evaluation->accuracy;
  e.rule = "average";
  const double average = finish(*simulation_of(e, data)).back().evaluation->accuracy;
  EXPECT_GT(boba, 0.9);
  EXPECT_LT(average, 0.6);
}

// The seed of the sketches is the run's: the same bytes again, for any threads, and others than
// those of exact products.
TEST(Simulation, SketchesByTheRunsSeed) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  const auto exact = simulation_of(e, data);
  finish(*exact);
  e.run.gram = "sketch(length=64)";
  const auto a = simulation_of(e, data, 1);
  const auto b = simulation_of(e, data, 3);
  finish(*a);
  finish(*b);
  EXPECT_EQ(copy_of(a->parameters()), copy_of(b->parameters()));
  EXPECT_NE(copy_of(a->parameters()), copy_of(exact->parameters()));
  e.run.gram = "sketch(length=64,seed=3)";
  const auto c = simulation_of(e, data);
  finish(*c);
  EXPECT_NE(copy_of(a->parameters()), copy_of(c->parameters()));
}

TEST(Simulation, EvaluatesEveryFewRoundsAndAtTheEnd) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.training.rounds = 5;
  const auto entries = finish(*simulation_of(e, data));
  ASSERT_EQ(entries.size(), 5U);
  std::vector<bool> evaluated;
  for (const RoundEntry& entry : entries) evaluated.push_back(entry.evaluation.has_value());
  EXPECT_EQ(evaluated, (std::vector<bool>{false, true, false, true, true}));
  EXPECT_EQ(entries.back().evaluation->recall.size(), 3U);
  EXPECT_EQ(entries.back().evaluation->confusion.size(), 9U);
  ASSERT_TRUE(entries.back().estimate.has_value());
  EXPECT_EQ(entries.back().estimate->clients.size(), 11U);
}

TEST(Simulation, TellsWhoWasJudgedHow) {
  const Dataset data = test::small_dataset();
  const auto entries = finish(*simulation_of(test::small_experiment(), data));
  for (const RoundEntry& entry : entries) {
    int honest = 0;
    for (const int client : entry.round.rejected) honest += client < 9 ? 1 : 0;
    EXPECT_EQ(entry.round.false_rejects, honest);
    EXPECT_EQ(entry.round.false_accepts,
              2 - (static_cast<int>(entry.round.rejected.size()) - honest));
    ASSERT_TRUE(entry.round.label_error.has_value());
    EXPECT_LT(*entry.round.label_error, 1.0);
    EXPECT_TRUE(entry.round.fits.has_value());
    EXPECT_GT(entry.round.update_norm, 0);
  }
}

TEST(Simulation, GivesTheSameBytesForAnyNumberOfThreads) {
  const Dataset data = test::small_dataset();
  std::vector<std::string> checkpoints;
  for (const int threads : {1, 2, 4}) {
    checkpoints.push_back(
        finish(*simulation_of(test::small_experiment(), data, threads)).back().checkpoint);
  }
  EXPECT_EQ(checkpoints[0], checkpoints[1]);
  EXPECT_EQ(checkpoints[0], checkpoints[2]);
}

// Every round's checkpoint continues to the same end.
void expect_resumable(const Experiment& experiment, const Dataset& data) {
  auto whole = simulation_of(experiment, data);
  const auto entries = finish(*whole);
  for (std::size_t k = 0; k + 1 < entries.size(); ++k) {
    auto resumed = simulation_of(experiment, data, 1);
    ASSERT_TRUE(resumed->restore(entries[k].checkpoint).ok());
    EXPECT_EQ(resumed->rounds_done(), static_cast<int>(k) + 1);
    const auto rest = finish(*resumed);
    ASSERT_EQ(rest.size(), entries.size() - k - 1);
    EXPECT_EQ(rest.back().checkpoint, entries.back().checkpoint) << "after round " << k + 1;
    EXPECT_EQ(rest.back().evaluation->confusion, entries.back().evaluation->confusion);
    EXPECT_EQ(rest.back().round.rejected, entries.back().round.rejected);
  }
}

TEST(Simulation, ResumesToTheSameBytes) {
  expect_resumable(test::small_experiment(), test::small_dataset());
}

TEST(Simulation, ResumesWithMomentumSamplingBatchesAndRandomAttack) {
  Experiment e = test::small_experiment();
  e.training.algorithm = Algorithm::kFedAvg;
  e.training.local_steps = 2;
  e.training.batch = 3;
  e.training.momentum = 0.9;
  e.federation.participation = 0.7;
  e.attack = "gauss(sigma=1)";
  e.rule = "bucketing(s=2) | geomed";
  expect_resumable(e, test::small_dataset());
}

TEST(Simulation, RefusesAForeignCheckpoint) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  const std::string checkpoint = finish(*simulation_of(e, data)).back().checkpoint;
  e.model.kind = "mlp(width=9,depth=1)";
  EXPECT_FALSE(simulation_of(e, data)->restore(checkpoint).ok());
  e = test::small_experiment();
  e.training.momentum = 0.5;
  EXPECT_FALSE(simulation_of(e, data)->restore(checkpoint).ok());
  e = test::small_experiment();
  e.training.rounds = 3;
  EXPECT_FALSE(simulation_of(e, data)->restore(checkpoint).ok());
  e = test::small_experiment();
  EXPECT_FALSE(simulation_of(e, data)->restore("").ok());
  EXPECT_FALSE(simulation_of(e, data)->restore(checkpoint.substr(0, checkpoint.size() / 2)).ok());
}

TEST(Simulation, MomentumCarriesOverRounds) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.attack = "none";
  e.rule = "average";
  e.training.rounds = 2;
  auto plain = simulation_of(e, data);
  const std::vector<float> start = copy_of(plain->parameters());
  ASSERT_TRUE(plain->step().ok());
  const std::vector<float> after_one = copy_of(plain->parameters());
  e.training.momentum = 0.5;
  auto heavy = simulation_of(e, data);
  ASSERT_TRUE(heavy->step().ok());
  EXPECT_EQ(copy_of(heavy->parameters()), after_one);
  ASSERT_TRUE(plain->step().ok());
  ASSERT_TRUE(heavy->step().ok());
  for (std::size_t i = 0; i < start.size(); ++i) {
    const double first = static_cast<double>(after_one[i]) - static_cast<double>(start[i]);
    EXPECT_NEAR(heavy->parameters()[i], static_cast<double>(plain->parameters()[i]) + 0.5 * first,
                1e-6);
  }
}

TEST(Simulation, GoesOnWhenNoUpdateIsUsable) {
  const Dataset data = test::small_dataset();
  const auto diverging = [](const char* attack) {
    Experiment written = test::small_experiment();
    written.rule = "average";
    written.attack = attack;
    ResolvedExperiment e = test::resolved(written);
    e.training.learning_rate = 1e30;  // of no file: the model leaves the numbers at once
    return e;
  };
  auto simulation = simulation_of(diverging("none"), data);
  const auto entries = finish(*simulation);
  ASSERT_EQ(entries.size(), 6U);
  EXPECT_FALSE(entries.back().round.note.empty());
  EXPECT_EQ(entries.back().round.false_rejects, 9);
  // Scores that are no numbers count as the first class, whose examples are a third.
  EXPECT_EQ(entries.back().evaluation->loss, std::nullopt);
  EXPECT_DOUBLE_EQ(entries.back().evaluation->accuracy, 1.0 / 3);
  // Attackers that look at honest updates find none.
  for (const char* attack : {"ipm", "lie", "mimic", "minmax", "gauss", "signflip"}) {
    const auto attacked = finish(*simulation_of(diverging(attack), data));
    ASSERT_EQ(attacked.size(), 6U) << attack;
    EXPECT_NE(attacked.back().round.note.find("the model is lost"), std::string::npos) << attack;
    ASSERT_TRUE(attacked.back().evaluation.has_value());
    EXPECT_DOUBLE_EQ(attacked.back().evaluation->accuracy, 1.0 / 3) << attack;
  }
}

// The attackers know the server's gradients also where the rule has no use for them.
TEST(Simulation, AttackersSeeTheServerWhateverTheRule) {
  const Dataset data = test::small_dataset();
  for (const char* rule : {"average", "coomed", "boba(f=2)"}) {
    Experiment e = test::small_experiment();
    e.rule = rule;
    e.attack = "simplex";
    e.training.rounds = 2;
    const auto entries = finish(*simulation_of(e, data));
    ASSERT_EQ(entries.size(), 2U) << rule;
    EXPECT_EQ(entries.back().round.note, "") << rule;
    e.attack = "none";
    EXPECT_NE(finish(*simulation_of(e, data)).back().checkpoint, entries.back().checkpoint) << rule;
  }
}

// Also where the server's gradients come in parts: then a class's corner is their mean, which the
// rule sees too. So the shares that attackers sent are those that it finds.
TEST(Simulation, AttackersSeeTheMeanOfParts) {
  const Dataset data = test::small_dataset();
  for (const Algorithm algorithm : {Algorithm::kFedSgd, Algorithm::kFedAvg}) {
    Experiment e = test::small_experiment();
    e.rule = "boba(f=2,p_min=auto,parts=2)";
    e.attack = "simplex(p_min=-0.3,margin=0.05)";
    e.training.algorithm = algorithm;
    e.training.rounds = 2;
    e.run.evaluate_every = 1;
    for (const RoundEntry& entry : finish(*simulation_of(e, data))) {
      EXPECT_EQ(entry.round.note, "");
      ASSERT_TRUE(entry.estimate.has_value());
      ASSERT_EQ(entry.estimate->clients.size(), 11U);
      for (std::size_t j = 9; j < 11; ++j) {
        std::vector<double> shares = entry.estimate->shares[j];
        ASSERT_EQ(shares.size(), 3U);
        std::sort(shares.begin(), shares.end());
        EXPECT_NEAR(shares[0], -0.25, 1e-3);
        EXPECT_NEAR(shares[1], -0.25, 1e-3);
        EXPECT_NEAR(shares[2], 1.5, 1e-3);
      }
    }
  }
}

TEST(Simulation, RefusesHostileUpdatesAndLearns) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.training.rounds = 30;
  e.training.learning_rate = 0.3;
  for (const char* attack : {"nan", "inf", "zero", "signflip", "labelflip", "mimic", "lie"}) {
    e.attack = attack;
    const auto entries = finish(*simulation_of(e, data));
    EXPECT_GT(entries.back().evaluation->accuracy, 0.8) << attack;
    if (e.attack == "nan") {
      EXPECT_EQ(entries.back().round.rejected, (std::vector<int>{9, 10}));
    }
  }
}

TEST(Simulation, EveryRuleRunsInEveryAlgorithm) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.training.rounds = 2;
  for (const Algorithm algorithm : {Algorithm::kFedSgd, Algorithm::kFedAvg, Algorithm::kFedProx}) {
    e.training.algorithm = algorithm;
    for (const test::RuleCase& rule : test::rule_cases()) {
      if (rule.ordered && rule.stages.size() > 1) continue;
      // Rows far out spoil one bucket each, and there are half as many buckets as clients.
      e.rule = rule.spec(rule.ordered ? 1 : 2);
      const auto entries = finish(*simulation_of(e, data));
      ASSERT_EQ(entries.size(), 2U) << e.rule;
      EXPECT_EQ(entries.back().round.note, "") << e.rule;
    }
  }
}

TEST(Simulation, SamplesClientsAndTellsWho) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.federation.participation = 0.5;
  const auto entries = finish(*simulation_of(e, data));
  for (const RoundEntry& entry : entries) {
    EXPECT_EQ(entry.round.participants.size(), 5U + 1U);  // 4.5 and 1
    for (const int client : entry.round.rejected) {
      EXPECT_NE(std::find(entry.round.participants.begin(), entry.round.participants.end(), client),
                entry.round.participants.end());
    }
  }
}

TEST(Simulation, NamesTheModelsParts) {
  const Dataset data = test::small_dataset();
  const TensorFile file = simulation_of(test::small_experiment(), data)->model();
  ASSERT_EQ(file.tensors.size(), 4U);
  EXPECT_EQ(file.tensors[0].name, "hidden1.weight");
  EXPECT_EQ(file.tensors[0].shape, (std::vector<std::int64_t>{8, 25}));
  EXPECT_EQ(file.tensors[3].name, "output.bias");
  EXPECT_EQ(file.metadata.at("boba.rule"), "boba(f=2)");
}

}  // namespace
}  // namespace boba
