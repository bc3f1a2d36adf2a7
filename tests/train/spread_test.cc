// One run on several ranks has the numbers of one process.

#include "simulator/train/spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/dist_team.h"
#include "tests/support/experiment_make.h"
#include "tests/support/sim_experiments.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

Result<std::shared_ptr<const Dataset>> borrowed(const Dataset& data) {
  return std::shared_ptr<const Dataset>(std::shared_ptr<const Dataset>(), &data);
}

// Runs body(ranks) on rank 0 while the others follow.
template <class Body>
void lead(int ranks, const ResolvedExperiment& experiment, const Dataset& data, const Body& body) {
  test::run_ranks(ranks, [&](const Communicator& team) {
    if (team.rank() != 0) {
      follow(
          experiment, [&] { return borrowed(data); }, {}, team);
      return;
    }
    body(team);
    release_followers(team);
  });
}

std::vector<std::string> checkpoints_of(Simulation& simulation, int rounds) {
  std::vector<std::string> checkpoints;
  for (int k = 0; k < rounds; ++k) {
    const auto entry = simulation.step();
    EXPECT_TRUE(entry) << entry.error().message;
    if (!entry) break;
    checkpoints.push_back(entry->checkpoint);
  }
  return checkpoints;
}

TEST(Spread, EveryRoundHasTheBytesOfOneProcess) {
  const Dataset data = test::small_dataset();
  for (const Algorithm algorithm : {Algorithm::kFedSgd, Algorithm::kFedAvg}) {
    Experiment written = test::small_experiment();
    written.training.algorithm = algorithm;
    const ResolvedExperiment experiment = test::resolved(written);
    auto alone = make_simulation(experiment, data, {}, "test");
    ASSERT_TRUE(alone) << alone.error().message;
    const auto expected = checkpoints_of(**alone, 6);
    for (const int ranks : {1, 2, 3, 20}) {
      lead(ranks, experiment, data, [&](const Communicator& team) {
        auto leading = make_leading_simulation(experiment, data, {}, "test", team);
        ASSERT_TRUE(leading) << leading.error().message;
        EXPECT_EQ((*leading)->header().config, (*alone)->header().config);
        EXPECT_TRUE(checkpoints_of(**leading, 6) == expected) << ranks << " ranks";
        EXPECT_EQ((*leading)->parameters(), (*alone)->parameters());
      });
    }
  }
}

TEST(Spread, GoesOnFromACheckpointAndTwiceInARow) {
  const Dataset data = test::small_dataset();
  const ResolvedExperiment experiment = test::resolved(test::small_experiment());
  auto alone = make_simulation(experiment, data, {}, "test");
  ASSERT_TRUE(alone) << alone.error().message;
  const auto expected = checkpoints_of(**alone, 5);
  lead(3, experiment, data, [&](const Communicator& team) {
    for (int time = 0; time < 2; ++time) {
      auto leading = make_leading_simulation(experiment, data, {}, "test", team);
      ASSERT_TRUE(leading) << leading.error().message;
      ASSERT_TRUE((*leading)->restore(expected[2]));
      EXPECT_EQ((*leading)->rounds_done(), 3);
      EXPECT_EQ(checkpoints_of(**leading, 2).back(), expected.back());
      EXPECT_FALSE((*leading)->restore("no checkpoint"));
    }
  });
}

// Writes down what it is asked to train; a task's update is its index and the model's first number.
class CountingTrainer final : public Trainer {
 public:
  explicit CountingTrainer(std::function<void(const TrainingTask&)> seen)
      : seen_(std::move(seen)) {}

  std::size_t length() const override { return 2; }
  std::vector<float> initial() const override { return {0, 0}; }
  TensorFile named(std::span<const float> /*parameters*/) const override { return {}; }
  Result<void> train(std::span<const float> w, int /*round*/, double /*rate*/,
                     std::span<const TrainingTask> tasks) override {
    for (const TrainingTask& task : tasks) {
      seen_(task);
      task.out[0] = static_cast<float>(task.index);
      task.out[1] = w[0];
    }
    return {};
  }
  Result<Evaluation> evaluate(std::span<const float> /*w*/) override { return Evaluation(); }
  Result<void> server_losses(std::span<const std::span<const float>> points,
                             std::span<double> out) override {
    for (std::size_t i = 0; i < points.size(); ++i) out[i] = points[i][0];
    return {};
  }
  std::size_t losses_at_once() const override { return 7; }
  Result<void> server_gradient(std::span<const float> /*w*/, std::span<float> /*out*/) override {
    return {};
  }

 private:
  std::function<void(const TrainingTask&)> seen_;
};

// Rows for 7 tasks, and the tasks.
struct SevenTasks {
  SevenTasks() {
    for (std::size_t t = 0; t < 7; ++t) {
      tasks.push_back({Learner::kHonest, t, std::span(out).subspan(2 * t, 2)});
    }
  }
  std::vector<float> out = std::vector<float>(14, -1);
  std::vector<TrainingTask> tasks;
};

TEST(Spread, EachTaskIsTrainedOnceAndEveryRankGetsIt) {
  for (const int ranks : {1, 2, 3, 10}) {
    std::mutex mutex;
    std::map<std::size_t, int> times;
    std::map<int, int> of_rank;
    test::run_ranks(ranks, [&](const Communicator& team) {
      const auto trainer =
          spread_trainer(std::make_unique<CountingTrainer>([&](const TrainingTask& task) {
                           const std::lock_guard lock(mutex);
                           ++times[task.index];
                           ++of_rank[team.rank()];
                         }),
                         team);
      SevenTasks seven;
      const std::vector<float> w = {0.5F, 0};
      ASSERT_TRUE(trainer->train(w, 1, 0.1, seven.tasks));
      for (std::size_t t = 0; t < 7; ++t) {
        EXPECT_EQ(seven.out[2 * t], static_cast<float>(t));
        EXPECT_EQ(seven.out[2 * t + 1], 0.5F);
      }
      EXPECT_EQ(trainer->losses_at_once(), 7U);
      EXPECT_EQ(test::server_losses(*trainer, {{3, 0}, {4, 0}}), (std::vector<double>{3, 4}));
    });
    for (std::size_t t = 0; t < 7; ++t) EXPECT_EQ(times[t], 1) << "task " << t;
    // Nobody has more than its share.
    EXPECT_EQ(of_rank.size(), static_cast<std::size_t>(std::min(ranks, 7)));
    for (const auto& share : of_rank) EXPECT_LE(share.second, (7 + ranks - 1) / ranks);
  }
}

TEST(Spread, RanksThatHaveDriftedApartDoNotTrain) {
  for (const char* what : {"model", "round", "rate", "tasks"}) {
    const std::string different = what;
    test::run_ranks(3, [&](const Communicator& team) {
      const bool odd = team.rank() == 2;
      const auto trainer = spread_trainer(
          std::make_unique<CountingTrainer>([](const TrainingTask&) { ADD_FAILURE(); }), team);
      SevenTasks seven;
      // Zeros that differ in their sign.
      const std::vector<float> w = {0.5F, odd && different == "model" ? -0.0F : 0.0F};
      if (odd && different == "tasks") seven.tasks.pop_back();
      const Result<void> done = trainer->train(w, odd && different == "round" ? 4 : 3,
                                               odd && different == "rate" ? 0.2 : 0.1, seven.tasks);
      ASSERT_FALSE(done) << different;
      EXPECT_NE(done.error().message.find("with different models"), std::string::npos);
    });
  }
}

// A simulation whose second step fails.
class Failing final : public Simulation {
 public:
  explicit Failing(std::unique_ptr<Simulation> inner) : inner_(std::move(inner)) {}

  const RunHeader& header() const override { return inner_->header(); }
  std::span<const ClientRecord> clients() const override { return inner_->clients(); }
  int rounds_done() const override { return inner_->rounds_done(); }
  std::vector<float> parameters() const override { return inner_->parameters(); }
  TensorFile model() const override { return inner_->model(); }
  Result<RoundEntry> step(bool checkpoint) override {
    auto entry = inner_->step(checkpoint);
    if (rounds_done() == 2) return Error{ErrorCode::kInternal, "no memory left"};
    return entry;
  }
  Result<void> restore(std::string_view checkpoint) override { return inner_->restore(checkpoint); }

 private:
  std::unique_ptr<Simulation> inner_;
};

TEST(Spread, AFollowersFailedStepIsTheRunsFailure) {
  const Dataset data = test::small_dataset();
  const ResolvedExperiment experiment = test::resolved(test::small_experiment());
  test::run_ranks(3, [&](const Communicator& team) {
    if (team.rank() != 0) {
      const auto make = [&](const Place& place) -> Result<std::unique_ptr<Simulation>> {
        auto made = make_simulation(experiment, data, place, "");
        if (!made || team.rank() != 2) return made;
        return std::unique_ptr<Simulation>(std::make_unique<Failing>(std::move(*made)));
      };
      follow(make, {}, team);
      return;
    }
    auto leading = make_leading_simulation(experiment, data, {}, "test", team);
    ASSERT_TRUE(leading) << leading.error().message;
    EXPECT_TRUE((*leading)->step());
    const auto second = (*leading)->step();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message, "rank 2 of the test: no memory left");
    release_followers(team);
  });
}

TEST(Spread, AFollowerWithOtherDataDoesNotTakePart) {
  const Dataset data = test::small_dataset();
  Dataset other = data;
  other.checksum = "of something else";
  const ResolvedExperiment experiment = test::resolved(test::small_experiment());
  test::run_ranks(2, [&](const Communicator& team) {
    if (team.rank() != 0) {
      follow(
          experiment, [&] { return borrowed(other); }, {}, team);
      return;
    }
    const auto leading = make_leading_simulation(experiment, data, {}, "test", team);
    ASSERT_FALSE(leading);
    EXPECT_NE(leading.error().message.find("the ranks have different data"), std::string::npos);
    release_followers(team);
  });
}

TEST(Spread, WithoutARunTheOthersAreReleased) {
  const Dataset data = test::small_dataset();
  lead(3, test::resolved(test::small_experiment()), data, [](const Communicator&) {});
}

TEST(Spread, AFollowerWithoutDataEndsTheRunWithItsReason) {
  const Dataset data = test::small_dataset();
  const ResolvedExperiment experiment = test::resolved(test::small_experiment());
  test::run_ranks(2, [&](const Communicator& team) {
    if (team.rank() != 0) {
      const auto missing = []() -> Result<std::shared_ptr<const Dataset>> {
        return Error{ErrorCode::kIo, "no such data here"};
      };
      follow(experiment, missing, {}, team);
      return;
    }
    const auto leading = make_leading_simulation(experiment, data, {}, "test", team);
    ASSERT_FALSE(leading);
    EXPECT_EQ(leading.error().message, "rank 1 of the test: no such data here");
    release_followers(team);
  });
}

}  // namespace
}  // namespace boba
