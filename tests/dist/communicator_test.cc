// What ranks tell each other: outcomes, texts, jobs.

#include "boba/dist/communicator.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "boba/dist/job_queue.h"
#include "boba/dist/launch.h"
#include "boba/dist/mpi.h"
#include "tests/support/dist_team.h"

namespace boba::test {
namespace {

TEST(Agree, SucceedsOnlyWhereAllDo) {
  for (const int ranks : {1, 2, 5}) {
    run_ranks(ranks, [](const Communicator& team) { EXPECT_TRUE(agree(team, {})); });
  }
  EXPECT_TRUE(agree(*make_self_communicator(), {}));
}

TEST(Agree, TellsTheErrorOfTheLowestRank) {
  run_ranks(4, [](const Communicator& team) {
    const Error mine{ErrorCode::kIo, "file " + std::to_string(team.rank()) + " is gone"};
    const Result<void> outcome =
        agree(team, team.rank() >= 2 ? Result<void>(mine) : Result<void>());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::kIo);
    EXPECT_EQ(outcome.error().message, "rank 2 of the test: file 2 is gone");
    const Result<void> all = agree(team, mine);
    EXPECT_EQ(all.error().message, "file 0 is gone") << "no name before what all say";
  });
  const auto self = make_self_communicator();
  EXPECT_EQ(agree(*self, Error{ErrorCode::kIo, "gone"}).error().message, "gone");
}

TEST(Agree, KnowsWhetherAllHaveTheSame) {
  run_ranks(3, [](const Communicator& team) {
    EXPECT_TRUE(all_same(team, "a verdict"));
    EXPECT_TRUE(all_same(team, ""));
    EXPECT_FALSE(all_same(team, team.rank() == 1 ? "a verdict" : "another"));
    EXPECT_FALSE(all_same(team, std::to_string(team.rank())));
    EXPECT_EQ(broadcast_text(team, 2, team.rank() == 2 ? "hello" : "much longer"), "hello");
    EXPECT_EQ(broadcast_text(team, 0, ""), "");
  });
}

TEST(Team, TheFirstRanksHaveMessagesOfTheirOwn) {
  run_ranks(4, [](const Communicator& team) {
    const auto part = team.first(3);
    EXPECT_EQ(part == nullptr, team.rank() == 3);
    if (part) {
      EXPECT_EQ(part->size(), 3);
      EXPECT_EQ(broadcast_text(*part, 1, std::to_string(part->rank())), "1");
    }
    EXPECT_TRUE(agree(team, {}));
  });
}

TEST(Team, ARankThatThrowsEndsTheOthers) {
  EXPECT_THROW(run_ranks(3,
                         [](const Communicator& team) {
                           if (team.rank() == 1) throw std::runtime_error("died");
                           std::array<std::uint64_t, 1> number = {};
                           team.all_max(number);
                         }),
               std::runtime_error);
}

TEST(JobQueue, HandsOutEveryJobOnce) {
  constexpr std::size_t kJobs = 40;
  for (const int ranks : {1, 2, 4}) {
    std::vector<std::atomic<int>> done(kJobs);
    run_ranks(ranks, [&](const Communicator& team) {
      const auto queue = make_job_queue(team, kJobs);
      // Two threads of a rank may ask at once.
      const auto work = [&] {
        for (std::size_t job = queue->next(); job < kJobs; job = queue->next()) {
          ++done[job];
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      };
      std::thread other(work);
      work();
      other.join();
    });
    for (const auto& count : done) EXPECT_EQ(count, 1);
  }
}

TEST(JobQueue, ARankMayLeaveEarly) {
  run_ranks(3, [](const Communicator& team) {
    {
      const auto queue = make_job_queue(team, 1000);
      for (int k = 0; k < team.rank(); ++k) queue->next();
    }
    EXPECT_TRUE(agree(team, {}));
  });
}

// What mpirun leaves in the environment, set for one test.
class Launched : public ::testing::Test {
 protected:
  ~Launched() override {
    for (const char* name : kNames) ::unsetenv(name);
  }
  static constexpr const char* kNames[] = {"OMPI_COMM_WORLD_RANK",
                                           "OMPI_COMM_WORLD_SIZE",
                                           "OMPI_COMM_WORLD_LOCAL_SIZE",
                                           "PMI_RANK",
                                           "PMI_SIZE",
                                           "MPI_LOCALNRANKS",
                                           "SLURM_NTASKS",
                                           "SLURM_PROCID",
                                           "SLURM_STEP_NUM_TASKS"};
};

TEST_F(Launched, ByItself) {
  EXPECT_EQ(launched().rank, 0);
  EXPECT_EQ(launched().size, 1);
  const auto ranks = join();
  ASSERT_TRUE(ranks);
  EXPECT_EQ((*ranks)->size(), 1);
}

TEST_F(Launched, ByOpenMpiOrMpich) {
  ::setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
  EXPECT_EQ(launched().rank, 3);
  EXPECT_EQ(launched().size, 8);
  EXPECT_EQ(launched().here, 1);
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
  EXPECT_EQ(launched().here, 4);
  ::setenv("OMPI_COMM_WORLD_SIZE", "nonsense", 1);
  EXPECT_EQ(launched().size, 1);
  ::setenv("PMI_RANK", "1", 1);
  ::setenv("PMI_SIZE", "2", 1);
  EXPECT_EQ(launched().rank, 1);
  EXPECT_EQ(launched().size, 2);
  ::setenv("PMI_RANK", "2", 1);
  EXPECT_EQ(launched().size, 1) << "a rank beyond the others";
}

TEST_F(Launched, ThreadsAreSharedWithTheOthersHere) {
  const int alone = threads_of({});
  EXPECT_GE(alone, 1);
  EXPECT_LE(threads_of({0, 1000, 1000}), std::max(1, alone / 100));
  EXPECT_EQ(threads_of({0, 1000, 1}), alone) << "the others are elsewhere";
}

TEST_F(Launched, BySrunEachWorksByItselfAndIsTold) {
  ::setenv("SLURM_NTASKS", "4", 1);
  ::setenv("SLURM_PROCID", "0", 1);
  EXPECT_EQ(launch_warning(), "") << "a batch script is one process";
  ::setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  EXPECT_EQ(launch_warning(), "");
  ::setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  EXPECT_EQ(launch_warning(),
            "srun started 4 independent processes; use mpirun inside the allocation");
  EXPECT_EQ(launched().size, 1);
  // mpirun inside an allocation.
  ::setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_EQ(launch_warning(), "");
}

TEST_F(Launched, WithoutMpiSeveralProcessesAreAnError) {
  if (mpi_built()) GTEST_SKIP() << "this build has MPI";
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  const auto ranks = join();
  ASSERT_FALSE(ranks);
  EXPECT_NE(ranks.error().message.find("BOBA_MPI=ON"), std::string::npos);
}

}  // namespace
}  // namespace boba::test
