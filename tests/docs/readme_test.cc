// The README's C++ example compiles and runs, and the pages hold together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "boba/boba.h"
#include "tests/support/paths.h"
#include "tests/support/tools_process.h"

namespace boba {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = test::source_dir();

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

int complain(const std::string& message) {
  ADD_FAILURE() << message;
  return 1;
}

// The lines between the marks are those of the README.
int example(const boba::Round& round, boba::MutableRow out) {
  // clang-format off
  // example begins
  const auto kernels = boba::make_cpu_kernels();
  const auto rule = boba::make_aggregator("boba(f=15)");
  if (!rule) return complain(rule.error().message);
  const auto verdict = rule->aggregate(*kernels, round, out);
  if (verdict) std::printf("%zu of %zu accepted\n", verdict->accepted(), verdict->updates);
  // example ends
  // clang-format on
  return verdict ? 0 : complain(verdict.error().message);
}

// What stands between two marks, line by line, without indentation.
std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const std::size_t to = text.find(end, from + begin.size());
  std::istringstream lines(text.substr(from + begin.size(), to - from - begin.size()));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string::npos) result += line.substr(start) + "\n";
  }
  return result;
}

TEST(Readme, ItsCppExampleRuns) {
  UpdateMatrix updates(DType::kFloat32, 40, 3);
  UpdateMatrix server(DType::kFloat32, 2, 3);
  for (std::size_t i = 0; i < 40; ++i) {
    const float share = static_cast<float>(i % 5) / 4;
    updates.row_as<float>(i)[0] = share;
    updates.row_as<float>(i)[1] = 1 - share;
  }
  server.row_as<float>(0)[0] = 1;
  server.row_as<float>(1)[1] = 1;
  Round round;
  round.updates = updates.view();
  round.server = server.view();
  std::vector<float> out(3);
  EXPECT_EQ(example(round, MutableRow(std::span<float>(out))), 0);
  EXPECT_NEAR(out[0] + out[1], 1, 1e-6);
}

TEST(Readme, ShowsTheExampleThatRuns) {
  const std::string shown = between(read(kRoot / "README.md"), "```cpp\n", "```");
  const std::string run =
      between(read(kRoot / "tests/docs/readme_test.cc"), "// example begins\n", "// example ends");
  EXPECT_FALSE(shown.empty());
  EXPECT_EQ(shown, run);
}

// The words of the lines of a table, found by its first line; the table ends at a line of one word
// or none.
std::vector<std::vector<std::string>> table_in(const std::string& text, std::string_view heading) {
  std::vector<std::vector<std::string>> table;
  std::istringstream lines(text.substr(std::min(text.size(), text.find(heading))));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    table.push_back({std::istream_iterator<std::string>(words), {}});
    if (table.back().size() < 2) break;
  }
  if (!table.empty()) table.pop_back();
  return table;
}

// The table is what boba example prints; the last digit may differ between processors.
TEST(Readme, ShowsWhatTheDemoPrints) {
  const test::Finished demo = test::run_boba({"example"});
  ASSERT_EQ(demo.status, 0) << demo.err;
  const auto shown = table_in(read(kRoot / "README.md"), "attack  average");
  const auto printed = table_in(demo.out, "attack  average");
  ASSERT_GT(printed.size(), 3u);
  ASSERT_EQ(shown.size(), printed.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    ASSERT_EQ(shown[i].size(), printed[i].size());
    EXPECT_EQ(shown[i][0], printed[i][0]);
    for (std::size_t k = 1; k < shown[i].size(); ++k) {
      if (i == 0) {
        EXPECT_EQ(shown[i][k], printed[i][k]);
      } else {
        EXPECT_NEAR(std::stod(shown[i][k]), std::stod(printed[i][k]), 0.0015);
      }
    }
  }
}

TEST(Readme, NamesEveryRuleStageAndAttack) {
  const std::string text = read(kRoot / "README.md");
  const auto expect_named = [&](std::string_view name) {
    EXPECT_NE(text.find(name), std::string::npos) << "README.md does not name " << name;
  };
  for (const auto& entry : rules()) expect_named(entry.info.name);
  for (const auto& entry : mix_stages()) expect_named(entry.info.name);
  for (const auto& entry : blend_stages()) expect_named(entry.info.name);
  for (const auto& entry : attacks()) expect_named(entry.info.name);
}

// The targets of [text](target) that lie in the tree, outside fenced blocks.
std::vector<std::string> local_links(const std::string& markdown) {
  std::vector<std::string> links;
  std::istringstream lines(markdown);
  bool fenced = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) fenced = !fenced;
    for (std::size_t at = 0; !fenced && (at = line.find("](", at)) != std::string::npos;) {
      at += 2;
      std::string target = line.substr(at, line.find(')', at) - at);
      target = target.substr(0, target.find('#'));
      if (!target.empty() && target.find("://") == std::string::npos) links.push_back(target);
    }
  }
  return links;
}

TEST(Docs, LinksLeadSomewhere) {
  std::vector<fs::path> pages;
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  EXPECT_GT(pages.size(), 5u);
  for (const fs::path& page : pages) {
    for (const std::string& link : local_links(read(page))) {
      EXPECT_TRUE(fs::exists(page.parent_path() / link)) << page << " links to " << link;
    }
  }
}

TEST(Docs, LinksAreFound) {
  EXPECT_EQ(local_links("a [b](c.md) [d](e/f.md#g)\n```\n[no](no)\n```\n[h](https://x) [i](#j)\n"),
            (std::vector<std::string>{"c.md", "e/f.md"}));
}

}  // namespace
}  // namespace boba
