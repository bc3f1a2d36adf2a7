#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

// The numbers of the line that begins with a word.
std::vector<double> numbers_after(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first) || first != word) continue;
    std::vector<double> numbers;
    for (double value = 0; words >> value;) numbers.push_back(value);
    return numbers;
  }
  return {};
}

TEST(Example, ShowsWhatTheRulesAreWorth) {
  const Finished example = run_boba({"example"});
  ASSERT_EQ(example.status, 0) << example.err;
  EXPECT_EQ(example.err, "");
  for (const char* attack : {"none", "ipm", "lie", "gauss", "mimic", "minmax", "minsum"}) {
    const std::vector<double> errors = numbers_after(example.out, attack);
    ASSERT_EQ(errors.size(), 6) << attack;
    for (double error : errors) EXPECT_GE(error, 0) << attack;
  }
  const std::vector<double> none = numbers_after(example.out, "none");
  EXPECT_LT(none.front(), 1e-3) << "the average of honest updates is their mean";
  // The columns: average, krum, mkrum, geomed, boba, boba-hull.
  const std::vector<double> worst = numbers_after(example.out, "worst");
  ASSERT_EQ(worst.size(), 6);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_LT(worst[4], worst[k]) << "boba is better";
  EXPECT_LT(worst[5], worst[4]) << "boba-hull has the least worst";
}

TEST(Example, FitsAHundredColumns) {
  std::istringstream lines(run_boba({"example"}).out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100) << line;
}

TEST(Example, SavesARoundForTheOtherCommands) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_boba({"example", "--save", folder / "a/b"}).status, 0);
  const Finished aggregated =
      run_boba({"aggregate", "--rule", "boba(f=16)", "--updates", folder / "a/b/updates.npy",
                "--server", folder / "a/b/server.npy"});
  EXPECT_EQ(aggregated.status, 0) << aggregated.err;
  EXPECT_NE(aggregated.out.find("of 115 updates"), std::string::npos) << aggregated.out;
  const Finished attacked =
      run_boba({"attack", "--attack", "lie", "--honest", folder / "a/b/honest.npy", "--byzantine",
                "15", "--out", folder / "lie.npy"});
  EXPECT_EQ(attacked.status, 0) << attacked.err;
}

TEST(Example, IsTheSameWhateverTheNumberOfThreads) {
  EXPECT_EQ(run_boba({"example", "--threads", "1"}).out,
            run_boba({"example", "--threads", "3"}).out);
}

}  // namespace
}  // namespace boba::test
