// boba scaling, and the tables of docs/scaling.md, which are what it prints.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

TEST(Scaling, ThePageHasWhatTheCommandPrints) {
  const std::string page = read_text(test::source_dir() + "/docs/scaling.md");
  const std::vector<std::vector<std::string>> commands = {
      {"scaling"}, {"scaling", "--gram", "sketch(length=4096)"}};
  for (const std::vector<std::string>& command : commands) {
    std::string mark = "<!-- boba";
    for (const std::string& word : command) mark += " " + word;
    const Finished finished = run_boba(command);
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_NE(page.find(mark + " -->\n```\n" + finished.out + "```\n"), std::string::npos)
        << mark << ": the page differs from\n"
        << finished.out;
  }
}

TEST(Scaling, TakesNumbersOfAnyMachine) {
  const Finished one =
      run_boba({"scaling", "--clients", "115", "--parameters", "2e6", "--machines", "2"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_NE(one.out.find("1.0 GB         2"), std::string::npos) << one.out;
  EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 2);
}

TEST(Scaling, MistakesAreUsageErrors) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--clients", "0"},
                                             {"--clients", "1.5"},
                                             {"--clients", "1e300"},
                                             {"--clients", "nan"},
                                             {"--parameters", "many"},
                                             {"--memory", "0"},
                                             {"--read", "inf"},
                                             {"--latency", "-1"},
                                             {"--gram", "sketch(length=100)"}}) {
    std::vector<std::string> command = {"scaling"};
    command.insert(command.end(), wrong.begin(), wrong.end());
    const Finished finished = run_boba(command);
    EXPECT_EQ(finished.status, 2) << wrong[0] << " " << wrong[1];
    EXPECT_TRUE(finished.err.starts_with("boba scaling: ")) << finished.err;
  }
}

}  // namespace
}  // namespace boba::test
