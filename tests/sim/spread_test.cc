// One run on several ranks has the numbers of one process.

#include "boba/sim/spread.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/dist_team.h"
#include "tests/support/sim_experiments.h"

namespace boba {
namespace {

Result<std::shared_ptr<const Dataset>> borrowed(const Dataset& data) {
  return std::shared_ptr<const Dataset>(std::shared_ptr<const Dataset>(), &data);
}

// Runs body(ranks) on rank 0 while the others follow.
template <class Body>
void lead(int ranks, const Experiment& experiment, const Dataset& data, const Body& body) {
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
    Experiment experiment = test::small_experiment();
    experiment.training.algorithm = algorithm;
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
  const Experiment experiment = test::small_experiment();
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

TEST(Spread, WithoutARunTheOthersAreReleased) {
  const Dataset data = test::small_dataset();
  lead(3, test::small_experiment(), data, [](const Communicator&) {});
}

TEST(Spread, AFollowerWithoutDataEndsTheRunWithItsReason) {
  const Dataset data = test::small_dataset();
  const Experiment experiment = test::small_experiment();
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
