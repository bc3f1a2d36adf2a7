#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "boba/kernels/reference/reference.h"
#include "tests/support/kernels_backends.h"
#include "tests/support/kernels_rows.h"

namespace boba::testing {
namespace {

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
