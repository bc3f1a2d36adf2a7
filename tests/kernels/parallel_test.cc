#include "boba/kernels/cpu/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "boba/kernels/reference/reference.h"
#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"

namespace boba::testing {
namespace {

TEST(Parallel, EveryMemberRunsOnce) {
  for (const int threads : {0, 1, 2, 7}) {
    std::vector<int> calls(8);
    int team = 0;
    cpu::run_team(threads, [&](int member, int size) {
      ++calls[static_cast<std::size_t>(member)];
      if (member == 0) team = size;
    });
    EXPECT_GE(team, 1);
    EXPECT_LE(team, std::max(threads, 1));
    EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0), team);
  }
}

TEST(Parallel, StagesFollowEachOther) {
  for (const int threads : {1, 2, 3, 5}) {
    std::vector<std::atomic<int>> done(20);
    std::atomic<int> disorder{0};
    const auto jobs = [](std::size_t stage) { return stage % 4; };
    cpu::run_stages(threads, done.size(), jobs, [&](std::size_t stage, std::size_t, int) {
      if (stage > 0 && done[stage - 1] != static_cast<int>(jobs(stage - 1))) ++disorder;
      ++done[stage];
    });
    EXPECT_EQ(disorder, 0);
    for (std::size_t s = 0; s < done.size(); ++s) EXPECT_EQ(done[s], static_cast<int>(jobs(s)));
  }
}

TEST(Parallel, ExceptionsReachTheCaller) {
  for (const int threads : {1, 2, 3}) {
    for (std::size_t bad = 0; bad < 6; ++bad) {
      const auto body = [&](std::size_t stage, std::size_t job, int) {
        if (stage == bad / 2 && job == bad) throw std::bad_alloc();
      };
      EXPECT_THROW(cpu::run_stages(
                       threads, 3, [](std::size_t) { return 6; }, body),
                   std::bad_alloc);
    }
  }
}

TEST(Parallel, ProcessorsAreCounted) { EXPECT_GE(cpu::usable_processors(), 1); }

TEST(CpuKernels, NameSaysWhatRuns) {
  EXPECT_EQ(cpu_kernels(SimdLevel::kBaseline, 1)->name(), "cpu, 1 thread, baseline");
  EXPECT_EQ(cpu_kernels(SimdLevel::kBaseline, 3)->name(), "cpu, 3 threads, baseline");
  EXPECT_EQ(make_reference_kernels()->name(), "reference");
}

// One object, several callers at once.
TEST(CpuKernels, ManyCallers) {
  const Rows<float> rows = normal_rows<float>(9, 2000);
  const auto kernels = cpu_kernels(SimdLevel::kAuto, 2);
  const GramPass expected = kernels->gram(rows.view(), {});
  std::atomic<int> different{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        if (kernels->gram(rows.view(), {}).centred != expected.centred) ++different;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace boba::testing
