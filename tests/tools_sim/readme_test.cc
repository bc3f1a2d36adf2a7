// Every boba command of the README runs, in order, in an empty folder.

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

// The lines of the fenced sh blocks; a line that ends in a backslash goes on in the next.
std::vector<std::string> shell_lines(const std::string& markdown) {
  std::istringstream lines(markdown);
  std::vector<std::string> result;
  bool inside = false;
  bool continued = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside && line == "```sh";
      continued = false;
      continue;
    }
    if (!inside) continue;
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.pop_back();
    if (continued) {
      result.back() += line;
    } else {
      result.push_back(line);
    }
    continued = goes_on;
  }
  return result;
}

// The boba commands among the lines, however they name the program. Others (make, git) are not
// for a test to run.
std::vector<std::string> boba_commands(const std::string& markdown) {
  std::vector<std::string> commands;
  for (std::string line : shell_lines(markdown)) {
    for (const std::string prefix : {"$ ", "./", "build/bin/"}) {
      if (line.starts_with(prefix)) line.erase(0, prefix.size());
    }
    if (line.starts_with("boba ")) commands.push_back(line);
  }
  return commands;
}

TEST(Readme, FindsCommands) {
  const std::string text =
      "# x\n```sh\nmake demo\n$ boba demo\nboba a \\\n  b\n```\n```cpp\nboba no\n```\nboba no\n"
      "```\nboba no\n```\n```sh\nbuild/bin/boba c # why\n```\n";
  EXPECT_EQ(boba_commands(text),
            (std::vector<std::string>{"boba demo", "boba a   b", "boba c # why"}));
}

TEST(Readme, EveryCommandRuns) {
  const std::filesystem::path readme = test::source_dir() + "/README.md";
  const std::vector<std::string> commands = boba_commands(read_text(readme));
  EXPECT_FALSE(commands.empty()) << "README.md shows no boba command in a ```sh block";
  const TemporaryFolder folder;
  for (const std::string& command : commands) {
    const Finished finished =
        run_program({"sh", "-c", command},
                    {.folder = folder.path(), .path_prefix = test::binary_dir() + "/bin"});
    EXPECT_EQ(finished.status, 0) << command << "\n" << finished.err;
  }
}

}  // namespace
}  // namespace boba::test
