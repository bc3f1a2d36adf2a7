// boba data: the commands as a user meets them.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/data_files.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

class DataCommand : public ::testing::Test {
 protected:
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  // With nothing but what the test wrote, whatever the machine has.
  Finished run(const std::vector<std::string>& words) {
    std::vector<std::string> command{
        "env", "-u", "BOBA_DATA", "XDG_CACHE_HOME=/nowhere", boba_program().string(), "data"};
    command.insert(command.end(), words.begin(), words.end());
    return run_program(command, {.folder = folder_.path()});
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  TemporaryFolder folder_;
};

TEST_F(DataCommand, ListShowsWhatIsThereAndWhatToDo) {
  write_idx_set(at("sets/mnist"), 20);
  const Finished finished = run({"list", "--data", "sets"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(finished.out.starts_with("set ")) << finished.out;
  EXPECT_TRUE(has(finished.out, "\nmnist ")) << finished.out;
  EXPECT_TRUE(has(finished.out, "  sets/mnist\n")) << finished.out;
  EXPECT_TRUE(has(finished.out, "mnist: 20 training examples; the published set has 60000."));
  EXPECT_TRUE(has(finished.out, "cifar10: not found. Get cifar-10-binary.tar.gz"));
  EXPECT_TRUE(has(finished.out, "built in"));
  EXPECT_TRUE(has(finished.out, "Looked in sets (--data)"));
  EXPECT_TRUE(has(finished.out, "BOBA_DATA"));
}

TEST_F(DataCommand, ListTellsOfANamedFolderThatIsIncomplete) {
  write_idx_set(at("cache/boba/mnist"), 20);
  write_idx_set(at("sets/mnist"), 20);
  std::filesystem::remove(at("sets/mnist/t10k-labels-idx1-ubyte"));
  const Finished finished =
      run_program({"env", "-u", "BOBA_DATA", "XDG_CACHE_HOME=" + at("cache").string(),
                   boba_program().string(), "data", "list", "--data", "sets"},
                  {.folder = folder_.path()});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(has(finished.out, "mnist: sets/mnist (--data) has training images")) << finished.out;
  EXPECT_TRUE(has(finished.out, "but no test labels")) << finished.out;
}

TEST_F(DataCommand, ListTellsOfAUselessFolder) {
  std::filesystem::create_directories(at("empty"));
  const Finished finished = run({"list", "--data", "empty"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(has(finished.out, "--data empty holds no file of any set.")) << finished.out;
  const Finished missing = run({"list", "--data", "nowhere"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err, "boba data list: --data nowhere: no such folder\n");
}

TEST_F(DataCommand, VerifyReportsEachFile) {
  write_idx_set(at("mnist"), 20);
  const Finished sound = run({"verify", "mnist", "--data", "."});
  EXPECT_EQ(sound.status, 0) << sound.err;
  EXPECT_TRUE(has(sound.out, "readable     20  ")) << sound.out;
  EXPECT_TRUE(has(sound.out, "not the published file")) << sound.out;
  write_text(at("mnist/train-images-idx3-ubyte"), idx_images(20).substr(0, 999));
  const Finished damaged = run({"verify", "mnist", "--data", "."});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_TRUE(has(damaged.out, "damaged")) << damaged.out;
  EXPECT_TRUE(has(damaged.out, "at byte 999: the file ends")) << damaged.out;
  EXPECT_EQ(damaged.err, "boba data verify: damaged: mnist; get the files anew\n");
}

TEST_F(DataCommand, VerifyTellsWhatItCannotFind) {
  const Finished missing = run({"verify", "mnist", "--data", "."});
  EXPECT_EQ(missing.status, 1);
  EXPECT_TRUE(missing.err.starts_with("boba data verify: mnist: not found: training images, "))
      << missing.err;
  const Finished unknown = run({"verify", "mnst"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(has(unknown.err, "did you mean mnist?")) << unknown.err;
}

TEST_F(DataCommand, MisspeltCommandsAreTold) {
  const Finished finished = run({"lst"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err,
            "boba data: no command 'lst'; did you mean list? see 'boba data --help'\n");
  const Finished option = run({"list", "--dta", "x"});
  EXPECT_EQ(option.status, 2);
  EXPECT_EQ(
      option.err,
      "boba data list: no option '--dta'; did you mean --data? see 'boba data list --help'\n");
  const Finished alone = run({});
  EXPECT_EQ(alone.status, 2);
  EXPECT_TRUE(has(alone.err, "Usage: boba data")) << alone.err;
}

TEST_F(DataCommand, HelpShowsExamples) {
  for (const std::string name : {"list", "verify"}) {
    const Finished finished = run({name, "--help"});
    EXPECT_EQ(finished.status, 0);
    EXPECT_TRUE(has(finished.out, "Examples:\n  boba data " + name)) << finished.out;
  }
}

}  // namespace
}  // namespace boba::test
