// Local training against its definitions: finite differences, one step, many steps, batches.

#include "simulator/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "boba/core/random.h"
#include "tests/support/experiment_make.h"
#include "tests/support/sim_experiments.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

Result<std::size_t> parameters_of(const char* model, const Dataset& data) {
  Experiment e;
  e.model.kind = model;
  return count_parameters(test::resolved(e), data);
}

std::unique_ptr<Trainer> trainer_of(const Experiment& experiment, const Dataset& data,
                                    int threads = 1) {
  const ResolvedExperiment resolved = test::resolved(experiment);
  const auto plan = make_plan(resolved, data);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  auto trainer = make_trainer(resolved, data, *plan, threads);
  EXPECT_TRUE(trainer.ok()) << trainer.error().message;
  return std::move(*trainer);
}

// One update of a learner.
std::vector<float> update_of(Trainer& trainer, Learner learner, std::size_t index,
                             const std::vector<float>& w, double rate = 0.1, int round = 1) {
  std::vector<float> out(trainer.length());
  const TrainingTask task{learner, index, out};
  const Result<void> done = trainer.train(w, round, rate, {&task, 1});
  EXPECT_TRUE(done.ok()) << done.error().message;
  return out;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// The loss along a direction, by central differences, against the gradient.
void expect_gradient(Trainer& trainer) {
  const std::vector<float> w = trainer.initial();
  std::vector<float> gradient(w.size());
  ASSERT_TRUE(trainer.server_gradient(w, gradient).ok());
  const double norm = std::sqrt(dot(gradient, gradient));
  ASSERT_GT(norm, 1e-3);
  for (std::uint32_t k = 0; k < 6; ++k) {
    // Half the gradient's own direction, half noise: the answer is never near 0.
    std::vector<float> direction(w.size());
    const StreamKey key{.seed = 3, .client = k, .purpose = Purpose::kBench};
    for (std::size_t i = 0; i < w.size(); ++i) {
      direction[i] =
          static_cast<float>(static_cast<double>(gradient[i]) / norm +
                             normal_at(key, i) / std::sqrt(static_cast<double>(w.size())));
    }
    const double h = 4e-3;
    std::vector<float> plus = w;
    std::vector<float> minus = w;
    for (std::size_t i = 0; i < w.size(); ++i) {
      plus[i] += static_cast<float>(h) * direction[i];
      minus[i] -= static_cast<float>(h) * direction[i];
    }
    const std::vector<double> losses = test::server_losses(trainer, {plus, minus});
    const double slope = (losses[0] - losses[1]) / (2 * h);
    EXPECT_NEAR(slope, dot(gradient, direction), 2e-2 * norm) << "direction " << k;
  }
}

Experiment image_experiment(const std::string& model) {
  Experiment e = test::small_experiment();
  e.model.kind = model;
  e.data.partition = "iid";
  return e;
}

TEST(Gradient, OfTheMlpIsTheSlopeOfItsLoss) {
  const Dataset data = test::small_dataset();
  expect_gradient(*trainer_of(image_experiment("mlp(width=7,depth=2)"), data));
}

TEST(Gradient, OfSoftmaxRegressionToo) {
  const Dataset data = test::small_dataset();
  expect_gradient(*trainer_of(image_experiment("mlp(depth=0)"), data));
}

TEST(Gradient, OfTheCnnIsTheSlopeOfItsLoss) {
  const Dataset data = test::small_images(3, {.channels = 2, .height = 18, .width = 20}, 12);
  expect_gradient(*trainer_of(image_experiment("cnn(channels=4)"), data));
}

TEST(Gradient, OfTheGruIsTheSlopeOfItsLoss) {
  const Dataset data = test::small_texts(4, 9, 20);
  expect_gradient(*trainer_of(image_experiment("gru(units=6)"), data));
  expect_gradient(*trainer_of(image_experiment("gru(units=6,pooling=mean)"), data));
}

TEST(Model, HasThePapersNumbersOfParameters) {
  Dataset data = test::small_images(10, {.channels = 1, .height = 28, .width = 28}, 1);
  EXPECT_EQ(*parameters_of("mlp", data), 199210U);
  data = test::small_images(10, {.channels = 3, .height = 32, .width = 32}, 1);
  EXPECT_EQ(*parameters_of("cnn", data), 122570U);
  data.image.height = 17;
  EXPECT_FALSE(parameters_of("cnn", data).ok());
  EXPECT_FALSE(parameters_of("gru", data).ok());
  EXPECT_FALSE(parameters_of("mlp", test::small_texts(2, 5, 2)).ok());
}

TEST(Model, StartsInsideTheBoundAndDependsOnTheSeed) {
  const Dataset data = test::small_dataset();
  Experiment e = image_experiment("mlp(width=30,depth=1)");
  const std::vector<float> w = trainer_of(e, data)->initial();
  double sum_sq = 0;
  for (std::size_t i = 0; i < 25 * 30; ++i) {
    EXPECT_LE(std::abs(w[i]), 0.2F);
    sum_sq += static_cast<double>(w[i]) * static_cast<double>(w[i]);
  }
  // Uniform on [-1/5, 1/5]: variance 1/75.
  EXPECT_NEAR(sum_sq / (25 * 30), 1.0 / 75, 1.5e-3);
  EXPECT_EQ(w, trainer_of(e, data)->initial());
  e.seed = 6;
  EXPECT_NE(w, trainer_of(e, data)->initial());
}

TEST(FedAvg, WithOneFullStepIsFedSgd) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  auto sgd = trainer_of(e, data);
  e.training.algorithm = Algorithm::kFedAvg;
  e.training.local_steps = 1;
  auto avg = trainer_of(e, data);
  const std::vector<float> w = sgd->initial();
  const double rate = 0.125;
  for (std::size_t client = 0; client < 9; ++client) {
    const auto gradient = update_of(*sgd, Learner::kHonest, client, w, rate);
    const auto change = update_of(*avg, Learner::kHonest, client, w, rate);
    for (std::size_t i = 0; i < w.size(); ++i) {
      // w - (w - eta g): two roundings of numbers of the size of w.
      EXPECT_NEAR(change[i], rate * static_cast<double>(gradient[i]),
                  1.2e-7 * (std::abs(static_cast<double>(w[i])) + 0.1));
    }
  }
}

TEST(FedAvg, TakesStepsOneAfterTheOther) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  auto sgd = trainer_of(e, data);
  e.training.algorithm = Algorithm::kFedAvg;
  e.training.local_steps = 3;
  auto avg = trainer_of(e, data);
  const std::vector<float> w = sgd->initial();
  std::vector<float> local = w;
  for (int k = 0; k < 3; ++k) {
    const auto gradient = update_of(*sgd, Learner::kHonest, 2, local);
    for (std::size_t i = 0; i < w.size(); ++i) local[i] -= 0.1F * gradient[i];
  }
  const auto change = update_of(*avg, Learner::kHonest, 2, w, 0.1);
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(change[i], w[i] - local[i], 1e-7);
}

TEST(FedProx, WithMuZeroIsFedAvgBitForBit) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.training.algorithm = Algorithm::kFedAvg;
  auto avg = trainer_of(e, data);
  e.training.algorithm = Algorithm::kFedProx;
  e.training.mu = 0;
  auto prox = trainer_of(e, data);
  const std::vector<float> w = avg->initial();
  EXPECT_EQ(update_of(*avg, Learner::kHonest, 1, w), update_of(*prox, Learner::kHonest, 1, w));
}

TEST(FedProx, PullsTowardsTheServersModel) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  auto sgd = trainer_of(e, data);
  e.training.algorithm = Algorithm::kFedProx;
  e.training.local_steps = 2;
  e.training.mu = 0.5;
  auto prox = trainer_of(e, data);
  const std::vector<float> w = sgd->initial();
  std::vector<float> local = w;
  for (int k = 0; k < 2; ++k) {
    const auto gradient = update_of(*sgd, Learner::kHonest, 4, local);
    for (std::size_t i = 0; i < w.size(); ++i) {
      local[i] -= 0.1F * (gradient[i] + 0.5F * (local[i] - w[i]));
    }
  }
  const auto change = update_of(*prox, Learner::kHonest, 4, w, 0.1);
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(change[i], w[i] - local[i], 1e-7);
}

TEST(Batches, DependOnRoundAndCoverTheClient) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  auto full = trainer_of(e, data);
  e.training.batch = 4;
  auto some = trainer_of(e, data);
  const std::vector<float> w = full->initial();
  const auto first = update_of(*some, Learner::kHonest, 1, w, 0.1, 1);
  EXPECT_EQ(first, update_of(*some, Learner::kHonest, 1, w, 0.1, 1));
  EXPECT_NE(first, update_of(*some, Learner::kHonest, 1, w, 0.1, 2));
  EXPECT_NE(first, update_of(*full, Learner::kHonest, 1, w));
  // A batch as large as the client is all of it.
  e.training.batch = 12;
  EXPECT_EQ(update_of(*trainer_of(e, data), Learner::kHonest, 1, w),
            update_of(*full, Learner::kHonest, 1, w));
}

TEST(Server, GradientOfAllIsTheMeanOfTheClasses) {
  const Dataset data = test::small_dataset();
  auto trainer = trainer_of(test::small_experiment(), data);
  const std::vector<float> w = trainer->initial();
  const auto whole = update_of(*trainer, Learner::kServerWhole, 0, w);
  std::vector<float> direct(w.size());
  ASSERT_TRUE(trainer->server_gradient(w, direct).ok());
  EXPECT_EQ(whole, direct);
  std::vector<double> mean(w.size(), 0);
  for (std::size_t z = 0; z < 3; ++z) {
    const auto part = update_of(*trainer, Learner::kServerClass, z, w);
    for (std::size_t i = 0; i < w.size(); ++i) mean[i] += static_cast<double>(part[i]) / 3;
  }
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(mean[i], whole[i], 1e-6);
}

TEST(LabelFlip, TrainsOnTheSameImagesWithOtherLabels) {
  const Dataset data = test::small_dataset();
  Experiment e = test::small_experiment();
  e.attack = "labelflip";
  auto trainer = trainer_of(e, data);
  const std::vector<float> w = trainer->initial();
  // Client 4 holds the middle class alone, which mirroring leaves as it is; client 0 the first.
  const auto honest = update_of(*trainer, Learner::kHonest, 0, w);
  const auto flipped = update_of(*trainer, Learner::kFlipped, 0, w);
  EXPECT_NE(honest, flipped);
  // With the labels 0 turned into 2 the output biases' gradients change places.
  const std::size_t d = w.size();
  EXPECT_LT(honest[d - 3], 0);  // towards class 0
  EXPECT_GT(honest[d - 1], 0);
  EXPECT_GT(flipped[d - 3], 0);
  EXPECT_LT(flipped[d - 1], 0);  // towards class 2
}

TEST(Evaluation, CountsEveryTestExample) {
  const Dataset data = test::small_dataset();
  auto trainer = trainer_of(test::small_experiment(), data, 2);
  const auto evaluation = trainer->evaluate(trainer->initial());
  ASSERT_TRUE(evaluation.ok());
  std::int64_t sum = 0;
  for (const std::int64_t count : evaluation->confusion) sum += count;
  EXPECT_EQ(sum, static_cast<std::int64_t>(data.test.count()));
  EXPECT_NEAR(evaluation->loss, std::log(3.0), 0.5);
}

TEST(Trainer, GivesTheSameBytesForAnyNumberOfThreads) {
  const Dataset data = test::small_images(3, {.channels = 1, .height = 18, .width = 18}, 24);
  const Experiment e = image_experiment("cnn(channels=4)");
  std::vector<std::vector<float>> first;
  std::vector<double> first_losses;
  for (const int threads : {1, 2, 5}) {
    auto trainer = trainer_of(e, data, threads);
    const std::vector<float> w = trainer->initial();
    std::vector<std::vector<float>> rows(9, std::vector<float>(w.size()));
    std::vector<TrainingTask> tasks;
    for (std::size_t i = 0; i < rows.size(); ++i) tasks.push_back({Learner::kHonest, i, rows[i]});
    ASSERT_TRUE(trainer->train(w, 1, 0.1, tasks).ok());
    if (first.empty()) first = rows;
    EXPECT_EQ(first, rows) << threads;
    // A gradient is a point like another.
    const std::vector<double> losses = test::server_losses(*trainer, rows);
    if (first_losses.empty()) first_losses = losses;
    EXPECT_EQ(first_losses, losses) << threads;
  }
}

TEST(Corruption, ChangesTheClientsDataButNotTheServers) {
  const Dataset data = test::small_images(3, {.channels = 1, .height = 8, .width = 8}, 36);
  Experiment e = test::small_experiment();
  auto clean = trainer_of(e, data);
  e.data.corruption = "contrast";
  auto corrupted = trainer_of(e, data);
  const std::vector<float> w = clean->initial();
  EXPECT_NE(update_of(*clean, Learner::kHonest, 1, w),
            update_of(*corrupted, Learner::kHonest, 1, w));
  EXPECT_EQ(update_of(*clean, Learner::kServerClass, 1, w),
            update_of(*corrupted, Learner::kServerClass, 1, w));
  e.data.corruption = "none";
  e.server.noise = "gaussian-noise";
  auto noisy = trainer_of(e, data);
  EXPECT_EQ(update_of(*clean, Learner::kHonest, 1, w), update_of(*noisy, Learner::kHonest, 1, w));
  EXPECT_NE(update_of(*clean, Learner::kServerClass, 1, w),
            update_of(*noisy, Learner::kServerClass, 1, w));
}

}  // namespace
}  // namespace boba
