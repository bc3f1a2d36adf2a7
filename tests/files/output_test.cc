// What reaches the disk, and in which order. The system's calls are seen on their way: this program
// has fsync and rename of its own, which make the same system calls.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "boba/files/durable.h"
#include "simulator/store/safetensors.h"
#include "tests/support/tools_process.h"
#include "tools/file.h"

namespace {

std::vector<std::string> calls;
int fsync_fails_with = 0;

}  // namespace

extern "C" int fsync(int descriptor) {
  std::error_code ignored;
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  calls.push_back("fsync " + std::filesystem::read_symlink(link, ignored).filename().string());
  if (fsync_fails_with != 0) {
    errno = fsync_fails_with;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char* from, const char* to) {
  calls.push_back("rename to " + std::filesystem::path(to).filename().string());
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

class Output : public ::testing::Test {
 protected:
  Output() {
    calls.clear();
    fsync_fails_with = 0;
  }
  ~Output() override { fsync_fails_with = 0; }

  // The file under its first name, the name, the folder.
  void expect_durable(const std::string& name) {
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_TRUE(calls[0].starts_with("fsync " + name + ".")) << calls[0];
    EXPECT_EQ(calls[1], "rename to " + name);
    EXPECT_EQ(calls[2], "fsync " + folder_.path().filename().string());
    EXPECT_EQ(folder_.names(), std::vector<std::string>{name});
  }

  TemporaryFolder folder_;
};

TEST_F(Output, FilesOfTheProgram) {
  auto file = tools::OutputFile::create(folder_ / "a.npy");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write(std::string_view("numbers")));
  EXPECT_TRUE(calls.empty());
  ASSERT_TRUE(file->commit());
  expect_durable("a.npy");
  EXPECT_EQ(read_text(folder_.path() / "a.npy"), "numbers");
}

TEST_F(Output, Models) {
  ASSERT_TRUE(write_safetensors(folder_.path() / "m.safetensors", {}));
  expect_durable("m.safetensors");
}

TEST_F(Output, ADiskThatFailsKeepsTheOldFile) {
  write_text(folder_.path() / "a.npy", "old");
  write_text(folder_.path() / "m.safetensors", "old");
  fsync_fails_with = EIO;
  {
    auto file = tools::OutputFile::create(folder_ / "a.npy");
    ASSERT_TRUE(file && file->write(std::string_view("new")));
    const auto done = file->commit();
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("a.npy: Input/output error"), std::string::npos)
        << done.error().message;
  }
  EXPECT_FALSE(write_safetensors(folder_.path() / "m.safetensors", {}));
  EXPECT_EQ(read_text(folder_.path() / "a.npy"), "old");
  EXPECT_EQ(read_text(folder_.path() / "m.safetensors"), "old");
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"a.npy", "m.safetensors"}));
}

// Nothing could be synced, and nothing is renamed.
TEST_F(Output, DevicesAreWrittenDirectly) {
  auto file = tools::OutputFile::create("/dev/null");
  ASSERT_TRUE(file && file->write(std::string_view("x")));
  EXPECT_TRUE(file->commit());
  EXPECT_TRUE(calls.empty());
}

TEST_F(Output, AFileSystemThatCannotSyncIsNoFailure) {
  fsync_fails_with = EINVAL;
  EXPECT_TRUE(sync_file(STDERR_FILENO));
}

TEST_F(Output, NamesWithoutAFolderAreInThisOne) {
  write_text(folder_.path() / "from", "x");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  EXPECT_TRUE(rename_durably("from", "to"));
  std::filesystem::current_path(before);
  EXPECT_EQ(calls.back(), "fsync " + folder_.path().filename().string());
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"to"});
}

}  // namespace
}  // namespace boba::test
