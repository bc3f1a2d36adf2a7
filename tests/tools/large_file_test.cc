// A file above the memory that the program may have.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "tests/support/tools_npy.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

constexpr std::size_t kRows = 48;
constexpr std::size_t kLength = std::size_t{1638400};  // 300 MiB in all

TEST(LargeFile, IsAggregatedUnderADataLimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  const TemporaryFolder folder;
  const std::string header =
      npy_bytes(npy_dictionary("<f4", fmt::format("({}, {})", kRows, kLength)), "");
  const std::filesystem::path file = folder.path() / "u.npy";
  write_text(file, header);
  // A hole in the file reads as zeros and takes no disk.
  std::filesystem::resize_file(file, header.size() + kRows * kLength * sizeof(float));
  for (const char* rule : {"average", "coomed", "mkrum(f=5)"}) {
    const Finished finished = run_boba({"aggregate", "--rule", rule, "--updates", file.string(),
                                        "--out", folder / "a.npy", "--threads", "2"},
                                       {.data_limit = std::size_t{64} << 20});
    ASSERT_EQ(finished.status, 0) << rule << ": " << finished.err;
    const auto out = npy_rows<float>(read_text(folder.path() / "a.npy"), 1, kLength).front();
    for (float value : out) ASSERT_EQ(value, 0) << rule;
  }
}

TEST(LargeFile, TheLimitIsReal) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  const Finished finished =
      run_boba({"bench", "--n", "48", "--d", std::to_string(kLength), "--rules", "average"},
               {.data_limit = std::size_t{64} << 20});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "boba: out of memory\n");
}

}  // namespace
}  // namespace boba::test
