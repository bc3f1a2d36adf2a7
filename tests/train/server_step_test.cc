// How far the server steps: learning rate, its decay, and what attacks make of it.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "simulator/train/simulation.h"
#include "tests/support/experiment_make.h"
#include "tests/support/sim_experiments.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

std::unique_ptr<Simulation> simulation_of(const Experiment& experiment, const Dataset& data) {
  auto made = make_simulation(test::resolved(experiment), data, {.threads = 2}, "test");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return std::move(*made);
}

RoundEntry step(Simulation& simulation) {
  auto entry = simulation.step();
  EXPECT_TRUE(entry.ok()) << entry.error().message;
  if (!entry) return {};
  EXPECT_EQ(entry->round.note, "");
  return std::move(*entry);
}

std::vector<double> copy_of(std::span<const float> values) {
  return {values.begin(), values.end()};
}

std::vector<double> difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

double root_mean_square(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// Parameters after the first round.
std::vector<double> after_a_round(const Experiment& experiment, const Dataset& data) {
  auto simulation = simulation_of(experiment, data);
  step(*simulation);
  return copy_of(simulation->parameters());
}

TEST(ServerStep, OneLocalStepOnAllExamplesIsAStepOfFedSgd) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.training.local_steps = 1;
  e.training.learning_rate = 0.05;
  // Zeno's prices make its choice depend on the step.
  for (const char* rule :
       {"average", "krum(f=2)", "boba(f=2)", "fltrust", "zeno(f=4,rho=5)", "zeno(f=4,rho=20)"}) {
    e.rule = rule;
    e.training.algorithm = Algorithm::kFedSgd;
    const std::vector<double> start = copy_of(simulation_of(e, data)->parameters());
    const std::vector<double> gradient_step = after_a_round(e, data);
    e.training.algorithm = Algorithm::kFedAvg;
    const std::vector<double> local_step = after_a_round(e, data);
    const double moved = root_mean_square(difference(gradient_step, start));
    EXPECT_GT(moved, 1e-4) << rule;
    EXPECT_LT(root_mean_square(difference(local_step, gradient_step)), 1e-4 * moved) << rule;
  }
}

TEST(ServerStep, HasTheDecayedRate) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.rule = "bygars";  // looks at the rate itself
  e.training.rounds = 4;
  e.training.local_steps = 2;
  e.training.learning_rate = 0.2;
  for (const Algorithm algorithm : {Algorithm::kFedSgd, Algorithm::kFedAvg, Algorithm::kFedProx}) {
    e.training.algorithm = algorithm;
    e.training.decay_start = 1;
    e.training.decay_every = 2;
    e.training.decay = 0.5;
    auto decayed = simulation_of(e, data);
    std::string checkpoint;
    // Rounds 1 .. decay_start have the first rate; after that it halves every two rounds.
    for (const double rate : {0.2, 0.1, 0.1, 0.05}) {
      Experiment constant = e;
      constant.training.decay = 1;
      constant.training.learning_rate = rate;
      auto expected = simulation_of(constant, data);
      constant.training.learning_rate = 2 * rate;
      auto twice = simulation_of(constant, data);
      if (!checkpoint.empty()) {
        ASSERT_TRUE(expected->restore(checkpoint).ok());
        ASSERT_TRUE(twice->restore(checkpoint).ok());
      }
      const RoundEntry entry = step(*decayed);
      step(*expected);
      step(*twice);
      EXPECT_EQ(entry.round.learning_rate, rate);
      EXPECT_EQ(copy_of(decayed->parameters()), copy_of(expected->parameters())) << rate;
      EXPECT_NE(copy_of(decayed->parameters()), copy_of(twice->parameters())) << rate;
      checkpoint = entry.checkpoint;
    }
  }
}

// Noise of the attack in the parameters after one round: an attack that sends zeros leaves all
// else as it is.
double noise(Experiment e, const std::string& attack, const Dataset& data) {
  e.attack = attack;
  const std::vector<double> noisy = after_a_round(e, data);
  e.attack = "zero";
  return root_mean_square(difference(noisy, after_a_round(e, data)));
}

// Of 1859 parameters; the deviation is known to 1.7%.
constexpr double kPart = 0.08;

Experiment averaging(Algorithm algorithm) {
  Experiment e = test::small_experiment();
  e.rule = "average";
  e.model.kind = "mlp(width=64,depth=1)";
  e.training.algorithm = algorithm;
  e.training.learning_rate = 0.05;
  return e;
}

TEST(ServerStep, NoiseOnParametersHasItsSizeInEveryAlgorithm) {
  const Dataset data = test::small_dataset();
  // The mean of 2 rows of noise among 11.
  const double expected = 3.0 * std::sqrt(2.0) / 11;
  for (const Algorithm algorithm : {Algorithm::kFedSgd, Algorithm::kFedAvg, Algorithm::kFedProx}) {
    const Experiment e = averaging(algorithm);
    EXPECT_NEAR(noise(e, "gauss(sigma=3,on=parameters)", data), expected, kPart * expected);
  }
}

TEST(ServerStep, NoiseOnUpdatesIsScaledByTheStep) {
  const Dataset data = test::small_dataset();
  const double sum = 3.0 * std::sqrt(2.0) / 11;
  const std::string attack = "gauss(sigma=3)";
  EXPECT_NEAR(noise(averaging(Algorithm::kFedSgd), attack, data), 0.05 * sum, kPart * 0.05 * sum);
  EXPECT_NEAR(noise(averaging(Algorithm::kFedAvg), attack, data), sum, kPart * sum);
}

TEST(ServerStep, NoiseOnParametersFollowsTheDecayedRateAndTheCohort) {
  const Dataset data = test::small_dataset();
  Experiment e = averaging(Algorithm::kFedSgd);
  e.training.decay_start = 0;
  e.training.decay = 0.1;
  e.federation.participation = 0.5;  // 4.5 honest clients and 1 Byzantine one
  EXPECT_NEAR(noise(e, "gauss(sigma=3,on=parameters)", data), 3.0 / 6, kPart * 3.0 / 6);
}

}  // namespace
}  // namespace boba
