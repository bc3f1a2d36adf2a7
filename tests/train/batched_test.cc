// All clients at once against one client at a time.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "boba/core/random.h"
#include "simulator/experiment/keys.h"
#include "simulator/torch/pool.h"
#include "simulator/train/simulation.h"
#include "simulator/train/trainer.h"
#include "tests/support/experiment_make.h"
#include "tests/support/sim_experiments.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

struct Pair {
  std::unique_ptr<Trainer> single;
  std::unique_ptr<Trainer> batched;
};

Pair trainers_of(const Experiment& experiment, const Dataset& data) {
  const ResolvedExperiment resolved = test::resolved(experiment);
  const auto plan = make_plan(resolved, data);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  auto single = make_trainer(resolved, data, *plan, 2);
  auto batched = make_batched_trainer(resolved, data, *plan, "cpu", 2);
  EXPECT_TRUE(batched.ok()) << batched.error().message;
  return {std::move(*single), std::move(*batched)};
}

Experiment experiment_of(const std::string& model, Algorithm algorithm, int batch) {
  Experiment e = test::small_experiment();
  e.model.kind = model;
  e.attack = "labelflip";
  e.training.algorithm = algorithm;
  e.training.batch = batch;
  e.training.local_steps = algorithm == Algorithm::kFedSgd ? 1 : 3;
  e.training.mu = 0.3;
  return e;
}

// Everyone who may train, in one call.
std::vector<std::vector<float>> all_updates(Trainer& trainer, const Experiment& e,
                                            std::size_t classes, const std::vector<float>& w) {
  std::vector<TrainingTask> tasks;
  for (std::size_t i = 0; i < static_cast<std::size_t>(e.federation.honest); ++i) {
    tasks.push_back({Learner::kHonest, i, {}});
  }
  for (std::size_t j = 0; j < static_cast<std::size_t>(e.federation.byzantine); ++j) {
    tasks.push_back({Learner::kFlipped, j, {}});
  }
  for (std::size_t z = 0; z < classes; ++z) tasks.push_back({Learner::kServerClass, z, {}});
  tasks.push_back({Learner::kServerWhole, 0, {}});
  std::vector<std::vector<float>> rows(tasks.size(), std::vector<float>(w.size(), 7.0F));
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].out = rows[i];
  const Result<void> done = trainer.train(w, 2, 0.1, tasks);
  EXPECT_TRUE(done.ok()) << done.error().message;
  return rows;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += x * x;
  }
  return std::sqrt(sum);
}

// At more points than fit into one call.
void expect_same_losses(Trainer& single, Trainer& batched, const std::vector<float>& w) {
  std::vector<std::vector<float>> points;
  for (std::uint32_t k = 0; k < 45; ++k) {
    std::vector<float>& point = points.emplace_back(w);
    const StreamKey key{.seed = 5, .client = k, .purpose = Purpose::kBench};
    for (std::size_t i = 0; i < w.size(); ++i) {
      point[i] += static_cast<float>(0.2 * normal_at(key, i));
    }
  }
  const std::vector<double> expected = test::server_losses(single, points);
  const std::vector<double> losses = test::server_losses(batched, points);
  for (std::size_t k = 0; k < points.size(); ++k) {
    EXPECT_NEAR(losses[k], expected[k], 2e-5 * expected[k]) << "point " << k;
  }
  const auto [least, most] = std::minmax_element(expected.begin(), expected.end());
  ASSERT_GT(*most, 1.01 * *least) << "points that could be taken for each other";
  EXPECT_NEAR(test::server_losses(batched, {points[44]})[0], losses[44], 1e-6 * losses[44]);
}

void expect_same(const Experiment& e, const Dataset& data) {
  const Pair pair = trainers_of(e, data);
  const std::vector<float> w = pair.single->initial();
  ASSERT_EQ(w, pair.batched->initial());
  const auto expected = all_updates(*pair.single, e, data.classes.size(), w);
  // Twice: the second round takes its groups from the first.
  for (int time = 0; time < 2; ++time) {
    const auto updates = all_updates(*pair.batched, e, data.classes.size(), w);
    for (std::size_t i = 0; i < updates.size(); ++i) {
      const double norm = distance(expected[i], std::vector<float>(w.size()));
      ASSERT_GT(norm, 1e-4) << i;
      EXPECT_LT(distance(updates[i], expected[i]), 2e-5 * norm) << "task " << i;
    }
  }
  const auto a = pair.single->evaluate(w);
  const auto b = pair.batched->evaluate(w);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->confusion, b->confusion);
  EXPECT_NEAR(a->loss, b->loss, 1e-5);
  expect_same_losses(*pair.single, *pair.batched, w);
  std::vector<float> one(w.size());
  std::vector<float> other(w.size());
  ASSERT_TRUE(pair.single->server_gradient(w, one).ok());
  ASSERT_TRUE(pair.batched->server_gradient(w, other).ok());
  EXPECT_LT(distance(one, other), 2e-5 * distance(one, std::vector<float>(w.size())));
}

// Every algorithm, on all examples and on batches.
void expect_same_everywhere(const std::string& model, const Dataset& data) {
  for (const Algorithm algorithm : {Algorithm::kFedSgd, Algorithm::kFedAvg, Algorithm::kFedProx}) {
    for (const int batch : {0, 5}) {
      SCOPED_TRACE(model + ", " + std::string(algorithm_name(algorithm)) + ", batches of " +
                   std::to_string(batch));
      expect_same(experiment_of(model, algorithm, batch), data);
    }
  }
}

TEST(Batched, MlpTrainsLikeOneClientAtATime) {
  expect_same_everywhere("mlp(width=7,depth=2)", test::small_dataset());
  expect_same_everywhere("mlp(depth=0)", test::small_dataset());
}

TEST(Batched, CnnTrainsLikeOneClientAtATime) {
  const Dataset data = test::small_images(3, {.channels = 2, .height = 18, .width = 20}, 18);
  expect_same_everywhere("cnn(channels=4)", data);
}

TEST(Batched, GruTrainsLikeOneClientAtATime) {
  const Dataset data = test::small_texts(3, 9, 24);
  expect_same_everywhere("gru(units=6)", data);
  expect_same_everywhere("gru(units=6,pooling=mean)", data);
}

TEST(Batched, ClientsOfVeryDifferentSizesToo) {
  Experiment e = experiment_of("mlp(width=7,depth=1)", Algorithm::kFedSgd, 0);
  e.data.partition = "dirichlet(alpha=0.3)";
  expect_same(e, test::small_images(3, {.channels = 1, .height = 5, .width = 5}, 120));
  e.training.algorithm = Algorithm::kFedAvg;
  e.training.batch = 6;
  expect_same(e, test::small_images(3, {.channels = 1, .height = 5, .width = 5}, 120));
}

// Each task's row is what its learner trains alone to, and nothing beside the rows is touched.
void expect_rows(const std::vector<std::pair<std::size_t, std::size_t>>& places) {
  const Dataset data = test::small_dataset();
  const Experiment e = experiment_of("mlp(width=7,depth=1)", Algorithm::kFedSgd, 0);
  const Pair pair = trainers_of(e, data);
  const std::vector<float> w = pair.single->initial();
  std::vector<float> memory(12 * (w.size() + 100));
  std::vector<bool> taken(memory.size());
  std::vector<TrainingTask> tasks;
  for (const auto& place : places) {
    const std::size_t first = place.first * (w.size() + 10) + place.second;
    tasks.push_back({Learner::kHonest, tasks.size(), std::span(memory).subspan(first, w.size())});
    for (std::size_t k = 0; k < w.size(); ++k) taken[first + k] = true;
  }
  ASSERT_TRUE(pair.batched->train(w, 1, 0.1, tasks).ok());
  for (const TrainingTask& task : tasks) {
    std::vector<float> expected(w.size());
    const TrainingTask alone{task.learner, task.index, expected};
    ASSERT_TRUE(pair.single->train(w, 1, 0.1, {&alone, 1}).ok());
    EXPECT_LT(distance({task.out.begin(), task.out.end()}, expected), 1e-5) << task.index;
  }
  for (std::size_t k = 0; k < memory.size(); ++k) {
    EXPECT_TRUE(taken[k] || memory[k] == 0.0F) << "beside the rows, at " << k;
  }
}

TEST(Batched, RowsNeedNotBeEvenlySpaced) {
  expect_rows({{0, 0}, {1, 0}, {2, 0}, {3, 0}});
  expect_rows({{0, 0}, {1, 0}, {2, 0}, {5, 7}, {7, 7}, {9, 7}});  // two kinds of steps
  expect_rows({{4, 3}, {0, 5}, {2, 1}});                          // back and forth
  expect_rows({{5, 0}, {4, 0}, {3, 0}});                          // downwards
  expect_rows({{6, 2}});
}

TEST(GroupBySize, KeepsTheOrderWhereSizesAreAlike) {
  const std::vector<std::int64_t> counts = {10, 9, 10, 10};
  EXPECT_EQ(group_by_size(counts), (std::vector<std::vector<std::size_t>>{{0, 1, 2, 3}}));
  EXPECT_TRUE(group_by_size({}).empty());
}

TEST(GroupBySize, FillsLittleAndLosesNobody) {
  std::vector<std::int64_t> counts;
  for (std::int64_t k = 1; k < 200; ++k) counts.push_back(k * k % 997 + 1);
  std::vector<int> seen(counts.size());
  for (const auto& group : group_by_size(counts)) {
    std::int64_t most = 0;
    std::int64_t all = 0;
    for (const std::size_t i : group) {
      ++seen[i];
      most = std::max(most, counts[i]);
      all += counts[i];
    }
    EXPECT_GE(5 * all, 4 * most * static_cast<std::int64_t>(group.size()));
  }
  EXPECT_EQ(seen, std::vector<int>(counts.size(), 1));
}

TEST(GroupBySize, IsNotMoreThanADeviceTakes) {
  const std::vector<std::int64_t> counts(500, 600);
  for (const auto& group : group_by_size(counts)) EXPECT_LE(group.size() * 600, 98304U);
}

TEST(Device, NamesAreChecked) {
  const Dataset data = test::small_dataset();
  const ResolvedExperiment experiment = test::resolved(test::small_experiment());
  for (const char* name : {"gpu", "cuda:", "cuda:x", "cuda:-1", ""}) {
    const auto made = make_simulation(experiment, data, {.device = name}, "test");
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_NE(made.error().message.find("; use cpu, cuda or cuda:1"), std::string::npos);
  }
}

// tolerance: what a federation on a GPU may differ by after twenty rounds, of the way it went. In
// mixed precision that is much: a client that is just in or just out, a unit that is just on or
// off.
void expect_gpu_agrees(const Experiment& experiment, const Dataset& data, double tolerance) {
  const ResolvedExperiment e = test::resolved(experiment);
  auto cpu = make_simulation(e, data, {.threads = 2}, "test");
  auto gpu = make_simulation(e, data, {.device = "cuda", .threads = 2}, "test");
  ASSERT_TRUE(cpu.ok()) << cpu.error().message;
  ASSERT_TRUE(gpu.ok()) << gpu.error().message;
  const std::vector<float> start = (*cpu)->parameters();
  EXPECT_EQ(start, (*gpu)->parameters());
  std::string middle;
  while (!(*cpu)->done()) {
    const auto expected = (*cpu)->step();
    const auto entry = (*gpu)->step();
    ASSERT_TRUE(expected.ok()) << expected.error().message;
    ASSERT_TRUE(entry.ok()) << entry.error().message;
    if (entry->round.round == e.training.rounds / 2) middle = entry->checkpoint;
    ASSERT_EQ(expected->evaluation.has_value(), entry->evaluation.has_value());
    if (entry->evaluation && expected->evaluation->loss && *expected->evaluation->loss < 10) {
      EXPECT_NEAR(*entry->evaluation->loss, *expected->evaluation->loss, 0.05);
    }
  }
  const double moved = distance((*cpu)->parameters(), start);
  EXPECT_LT(distance((*cpu)->parameters(), (*gpu)->parameters()), tolerance * moved)
      << "moved " << moved;
  // From its middle it goes on to the same bytes.
  auto again = make_simulation(e, data, {.device = "cuda", .threads = 2}, "test");
  ASSERT_TRUE(again.ok() && (*again)->restore(middle).ok());
  while (!(*again)->done()) ASSERT_TRUE((*again)->step().ok());
  EXPECT_EQ((*again)->parameters(), (*gpu)->parameters()) << "resumed";
}

Experiment gpu_experiment(const std::string& model, const std::string& rule) {
  Experiment e = test::small_experiment();
  e.model.kind = model;
  e.rule = rule;
  e.attack = "lie(sign=plus)";
  e.training.rounds = 20;
  e.training.learning_rate = 0.05;
  e.training.momentum = 0.5;
  return e;
}

TEST(Device, GpuAgreesWithTheProcessorAfterTwentyRounds) {
  if (!device_name("cuda")) GTEST_SKIP() << "no GPU";
  const Dataset images = test::small_images(3, {.channels = 2, .height = 18, .width = 20}, 36);
  const Dataset texts = test::small_texts(3, 9, 36);
  for (const char* model : {"mlp(width=16,depth=2,precision=float32)",
                            "cnn(channels=8,precision=float32)", "gru(units=8,precision=float32)",
                            "mlp(width=16,depth=2)", "cnn(channels=8)", "gru(units=8)"}) {
    const Dataset& data = std::string(model).starts_with("gru") ? texts : images;
    const bool exact = std::string(model).find("float32") != std::string::npos;
    const double tolerance = exact ? 0.002 : 0.05;
    for (const char* rule : {"average", "boba(f=2)", "coomed"}) {
      SCOPED_TRACE(std::string(model) + " " + rule);
      Experiment e = gpu_experiment(model, rule);
      expect_gpu_agrees(e, data, tolerance);
      e.training.algorithm = Algorithm::kFedAvg;
      e.training.local_steps = 2;
      expect_gpu_agrees(e, data, tolerance);
    }
  }
}

// Channels and sides for which the first convolution is one kernel: recorded and started again.
TEST(Device, GpuAgreesWhereTheFirstConvolutionIsOneKernel) {
  if (!device_name("cuda")) GTEST_SKIP() << "no GPU";
  const Dataset images = test::small_images(3, {.channels = 3, .height = 18, .width = 20}, 36);
  for (const char* rule : {"average", "coomed"}) {
    SCOPED_TRACE(rule);
    expect_gpu_agrees(gpu_experiment("cnn(channels=32)", rule), images, 0.05);
  }
}

// Several calls of a replay, the last of them with points of the one before.
TEST(Device, GpuAgreesOnLossesAtManyPoints) {
  if (!device_name("cuda")) GTEST_SKIP() << "no GPU";
  const Dataset images = test::small_images(3, {.channels = 2, .height = 18, .width = 20}, 36);
  const Dataset texts = test::small_texts(3, 9, 36);
  for (const char* model :
       {"mlp(width=16,depth=2,precision=float32)", "cnn(channels=8,precision=float32)",
        "gru(units=8,precision=float32)"}) {
    SCOPED_TRACE(model);
    const Dataset& data = std::string(model).starts_with("gru") ? texts : images;
    Experiment e = gpu_experiment(model, "zeno(f=2)");
    e.data.partition = "iid";
    e.federation.honest = 36;
    expect_gpu_agrees(e, data, 0.002);
  }
}

// What changes from round to round, and what asks the server.
TEST(Device, GpuAgreesInEveryKindOfRound) {
  if (!device_name("cuda")) GTEST_SKIP() << "no GPU";
  const Dataset data = test::small_images(3, {.channels = 1, .height = 5, .width = 5}, 120);
  const Experiment plain = gpu_experiment("mlp(width=16,depth=1,precision=float32)", "boba(f=2)");
  struct Kind {
    const char* name;
    void (*change)(Experiment&);
  };
  const Kind kinds[] = {
      {"some clients", [](Experiment& e) { e.federation.participation = 0.5; }},
      {"batches", [](Experiment& e) { e.training.batch = 5; }},
      {"fedprox",
       [](Experiment& e) {
         e.training.algorithm = Algorithm::kFedProx;
         e.training.local_steps = 2;
         e.training.mu = 0.1;
       }},
      {"clients of other sizes", [](Experiment& e) { e.data.partition = "dirichlet(alpha=0.3)"; }},
      {"flipped labels", [](Experiment& e) { e.attack = "labelflip"; }},
      {"asks for losses", [](Experiment& e) { e.rule = "zeno(f=2)"; }},
      {"asks for gradients", [](Experiment& e) { e.rule = "bygars"; }},
      {"sketches", [](Experiment& e) { e.run.gram = "sketch(length=64)"; }},
      {"server-mix", [](Experiment& e) { e.rule = "average | server-mix(lambda=0.5)"; }}};
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    Experiment e = plain;
    kind.change(e);
    expect_gpu_agrees(e, data, 0.002);
  }
}

}  // namespace
}  // namespace boba
