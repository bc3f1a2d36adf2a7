// Models that users export as TorchScript.

#include <gtest/gtest.h>
#include <torch/script.h>

#include <string>
#include <vector>

#include "simulator/train/simulation.h"
#include "simulator/train/trainer.h"
#include "tests/support/experiment_make.h"
#include "tests/support/sim_experiments.h"
#include "tests/support/tools_process.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

// A softmax regression on 5x5 images, with a parameter that is never used.
std::string export_linear(const test::TemporaryFolder& folder, int classes, bool whole = false) {
  torch::jit::Module module("linear");
  module.register_parameter("weight", torch::full({classes, 25}, 0.01), false);
  module.register_parameter("bias", torch::zeros({classes}), false);
  module.register_parameter("unused", torch::ones({2}), false);
  module.define(whole ? "def forward(self, x):\n  return x.flatten(1)\n"
                      : "def forward(self, x):\n"
                        "  return torch.addmm(self.bias, x.flatten(1), self.weight.t())\n");
  const std::string path = folder / "linear.pt";
  module.save(path);
  return path;
}

Experiment script_experiment(const std::string& path) {
  Experiment e = test::small_experiment();
  e.model.kind = "script";
  e.model.script = path;
  e.training.rounds = 30;
  return e;
}

TEST(Script, TrainsLikeTheSameModelOfOurs) {
  const test::TemporaryFolder folder;
  const Dataset data = test::small_dataset();
  const Experiment e = script_experiment(export_linear(folder, 3));
  auto made = make_simulation(test::resolved(e), data, {.threads = 2}, "test");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ((*made)->header().parameters, 80U);
  EXPECT_EQ((*made)->parameters()[0], 0.01F);
  double accuracy = 0;
  while (!(*made)->done()) {
    const auto entry = (*made)->step();
    ASSERT_TRUE(entry.ok()) << entry.error().message;
    if (entry->evaluation) accuracy = entry->evaluation->accuracy;
  }
  EXPECT_GT(accuracy, 0.9);
  // The unused part has no gradient and stays.
  EXPECT_EQ((*made)->parameters()[78], 1.0F);
  EXPECT_EQ((*made)->parameters()[79], 1.0F);
}

// The trainer of GPUs runs a script client by client.
TEST(Script, TrainsBesideOtherClientsAsAlone) {
  const test::TemporaryFolder folder;
  const Dataset data = test::small_dataset();
  Experiment e = script_experiment(export_linear(folder, 3));
  for (const Algorithm algorithm : {Algorithm::kFedSgd, Algorithm::kFedAvg}) {
    e.training.algorithm = algorithm;
    e.training.local_steps = algorithm == Algorithm::kFedSgd ? 1 : 3;
    const ResolvedExperiment resolved = test::resolved(e);
    const auto plan = make_plan(resolved, data);
    auto single = make_trainer(resolved, data, *plan, 1);
    auto batched = make_batched_trainer(resolved, data, *plan, "cpu", 1);
    ASSERT_TRUE(single.ok() && batched.ok()) << batched.error().message;
    const std::vector<float> w = (*single)->initial();
    ASSERT_EQ(w, (*batched)->initial());
    for (const Learner learner : {Learner::kHonest, Learner::kServerClass}) {
      std::vector<std::vector<float>> rows(4, std::vector<float>(w.size(), 9.0F));
      const std::vector<TrainingTask> alone = {{learner, 0, rows[0]}, {learner, 2, rows[1]}};
      const std::vector<TrainingTask> beside = {{learner, 0, rows[2]}, {learner, 2, rows[3]}};
      ASSERT_TRUE((*single)->train(w, 1, 0.1, alone).ok());
      ASSERT_TRUE((*batched)->train(w, 1, 0.1, beside).ok());
      for (std::size_t k = 0; k < w.size(); ++k) {
        EXPECT_NEAR(rows[0][k], rows[2][k], 1e-6);
        EXPECT_NEAR(rows[1][k], rows[3][k], 1e-6);
      }
    }
    const auto a = (*single)->evaluate(w);
    const auto b = (*batched)->evaluate(w);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a->confusion, b->confusion);
    EXPECT_NEAR(a->loss, b->loss, 1e-6);
    const std::vector<std::vector<float>> points(3, w);
    const std::vector<double> expected = test::server_losses(**single, points);
    const std::vector<double> losses = test::server_losses(**batched, points);
    for (std::size_t k = 0; k < points.size(); ++k) EXPECT_NEAR(losses[k], expected[k], 1e-6);
  }
}

TEST(Script, GradientEqualsThatOfTheFunction) {
  const test::TemporaryFolder folder;
  const Dataset data = test::small_dataset();
  const Experiment scripted = script_experiment(export_linear(folder, 3));
  Experiment ours = scripted;
  ours.model.kind = "mlp(depth=0)";
  ours.model.script.clear();
  std::vector<std::vector<float>> updates;
  for (const Experiment& e : {scripted, ours}) {
    const ResolvedExperiment resolved = test::resolved(e);
    const auto plan = make_plan(resolved, data);
    auto trainer = make_trainer(resolved, data, *plan, 1);
    ASSERT_TRUE(trainer.ok()) << trainer.error().message;
    std::vector<float> w((*trainer)->length(), 0.02F);
    std::vector<float>& out = updates.emplace_back((*trainer)->length());
    const TrainingTask task{Learner::kHonest, 3, out};
    ASSERT_TRUE((*trainer)->train(w, 1, 0.1, {&task, 1}).ok());
  }
  updates[0].resize(78);
  EXPECT_EQ(updates[0], updates[1]);
}

TEST(Script, ErrorsNameTheFileAndWhatWouldDo) {
  const test::TemporaryFolder folder;
  const Dataset data = test::small_dataset();
  const auto error_of = [&](const std::string& path) {
    const auto made = make_simulation(test::resolved(script_experiment(path)), data, {}, "test");
    return made.ok() ? std::string() : made.error().message;
  };
  EXPECT_NE(error_of(folder / "no.pt").find("no such file"), std::string::npos);
  test::write_text(folder / "text.pt", "not a module");
  EXPECT_NE(error_of(folder / "text.pt").find("not a TorchScript module"), std::string::npos);
  const std::string wrong = error_of(export_linear(folder, 4));
  EXPECT_NE(wrong.find("2x4"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("needs float 2x3"), std::string::npos) << wrong;
  EXPECT_NE(error_of(export_linear(folder, 3, true)).find("2x25"), std::string::npos);
}

}  // namespace
}  // namespace boba
