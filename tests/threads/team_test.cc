#include "boba/threads/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <numeric>
#include <vector>

namespace boba {
namespace {

TEST(Team, EveryMemberRunsOnce) {
  for (const int threads : {0, 1, 2, 7}) {
    std::vector<int> calls(8);
    int team = 0;
    run_team(threads, [&](int member, int size) {
      ++calls[static_cast<std::size_t>(member)];
      if (member == 0) team = size;
    });
    EXPECT_GE(team, 1);
    EXPECT_LE(team, std::max(threads, 1));
    EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0), team);
  }
}

TEST(Team, StagesFollowEachOther) {
  for (const int threads : {1, 2, 3, 5}) {
    std::vector<std::atomic<int>> done(20);
    std::atomic<int> disorder{0};
    const auto jobs = [](std::size_t stage) { return stage % 4; };
    run_stages(threads, done.size(), jobs, [&](std::size_t stage, std::size_t, int) {
      if (stage > 0 && done[stage - 1] != static_cast<int>(jobs(stage - 1))) ++disorder;
      ++done[stage];
    });
    EXPECT_EQ(disorder, 0);
    for (std::size_t s = 0; s < done.size(); ++s) EXPECT_EQ(done[s], static_cast<int>(jobs(s)));
  }
}

TEST(Team, ExceptionsReachTheCaller) {
  for (const int threads : {1, 2, 3}) {
    for (std::size_t bad = 0; bad < 6; ++bad) {
      const auto body = [&](std::size_t stage, std::size_t job, int) {
        if (stage == bad / 2 && job == bad) throw std::bad_alloc();
      };
      EXPECT_THROW(run_stages(
                       threads, 3, [](std::size_t) { return 6; }, body),
                   std::bad_alloc);
    }
  }
}

TEST(Team, ProcessorsAreCounted) { EXPECT_GE(usable_processors(), 1); }

}  // namespace
}  // namespace boba
