// Hostile files: nothing crashes, nothing hangs, every error names the file.
#include <gtest/gtest.h>

#include "boba/core/random.h"
#include "simulator/experiment/grid.h"
#include "tests/support/experiment_make.h"
#include "tests/support/tools_process.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

using test::lines;

std::string error_of(std::string_view toml) {
  const Result<Grid> grid = parse_grid(toml, "x.toml", "x");
  return grid ? "" : grid.error().message;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

bool starts(const std::string& text, const std::string& with) { return text.starts_with(with); }

TEST(GridHostile, SyntaxErrorsHaveTheirLine) {
  EXPECT_TRUE(starts(error_of(lines({"rule = 'average'", "seed = "})), "x.toml:2: "))
      << error_of(lines({"rule = 'average'", "seed = "}));
  EXPECT_TRUE(starts(error_of(lines({"", "", "seed 5"})), "x.toml:3: "));
  EXPECT_TRUE(starts(error_of("rule = average"), "x.toml:1: "));
  EXPECT_TRUE(starts(error_of(lines({"[data"})), "x.toml:1: "));
  EXPECT_TRUE(starts(error_of(lines({"seed = 99999999999999999999"})), "x.toml:1: "));
}

TEST(GridHostile, DoubledKeysAndSections) {
  EXPECT_TRUE(starts(error_of(lines({"seed = 1", "seed = 2"})), "x.toml:2: "));
  EXPECT_TRUE(starts(error_of(lines({"[data]", "train = 1", "[run]", "[data]", "test = 2"})),
                     "x.toml:4: "));
  EXPECT_NE(error_of(lines({"data.train = 1", "[data]", "train = 2"})), "");
}

TEST(GridHostile, LineEndsOfOtherSystems) {
  EXPECT_EQ(error_of("rule = 'average'\r\nseed = 3\r\n"), "");
  EXPECT_TRUE(starts(error_of("rule = 'average'\r\n\r\nsed = 3\r\n"), "x.toml:3: unknown key sed"));
  EXPECT_EQ(error_of("seed = 3"), "");  // no line end at all
}

TEST(GridHostile, ByteOrderMarks) {
  EXPECT_EQ(error_of("\xEF\xBB\xBFseed = 3\n"), "");
  EXPECT_TRUE(starts(error_of("\xEF\xBB\xBFsed = 3\n"), "x.toml:1: unknown key sed"));
  EXPECT_NE(error_of(std::string_view("\xFF\xFEs\0e\0e\0d\0", 10)), "");
}

TEST(GridHostile, BytesThatAreNoText) {
  EXPECT_NE(error_of("rule = '\xC3\x28'"), "");
  EXPECT_NE(error_of("# \xFF\nseed = 1"), "");
  EXPECT_NE(error_of(std::string_view("seed = 1\0", 9)), "");
  EXPECT_NE(error_of(std::string_view("\x7F\x45\x4C\x46\x02\x01\x01\0\0\0", 10)), "");
  EXPECT_NE(error_of("rule = \"average\\u0000\""), "");
  EXPECT_NE(error_of("[model]\nkind = 'script'\nscript = \"a\\nb\""), "");
  // Control bytes of the file do not reach the terminal.
  const std::string message = error_of("\"\\u001b[31mred\" = 1");
  EXPECT_NE(message, "");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(error_of("rule = \"\\u001b[31m\"").find('\x1b'), std::string::npos);
}

TEST(GridHostile, DeepNesting) {
  EXPECT_NE(error_of("seed = " + repeated("[", 100000)), "");
  EXPECT_NE(error_of("seed = " + repeated("[", 200) + repeated("]", 200)), "");
  EXPECT_NE(error_of("seed = " + repeated("{a=", 100000)), "");
  // Tables in tables, as many as are read at all, and more.
  EXPECT_NE(error_of("a" + repeated(".a", 4000) + " = 1"), "");
  EXPECT_NE(error_of("[a" + repeated(".a", 4000) + "]"), "");
  EXPECT_EQ(error_of("a" + repeated(".a", 400000) + " = 1"),
            "x.toml: 400000 dots; an experiment file has at most 4000");
  EXPECT_NE(error_of(repeated("[[a]]\n", 10000)), "");
}

TEST(GridHostile, HugeFiles) {
  EXPECT_EQ(error_of("#" + std::string((1 << 20) - 2, 'x') + "\n"), "");
  EXPECT_EQ(error_of("#" + std::string(1 << 20, 'x')),
            "x.toml: 1048577 bytes; an experiment file has at most 1048576");
  EXPECT_NE(error_of("rule = '" + std::string(100000, 'a') + "'"), "");
  EXPECT_LT(error_of("rule = '" + std::string(100000, 'a') + "'").size(), 2000u);
  EXPECT_LT(error_of(std::string(100000, 'a') + " = 1").size(), 2000u);
  EXPECT_LT(error_of("[" + std::string(100000, 'a') + "]").size(), 2000u);
  EXPECT_NE(error_of("seed = [" + repeated("1,", 200000) + "]"), "");
  const test::TemporaryFolder folder;
  test::write_text(folder / "huge.toml", std::string(5 << 20, '#'));
  EXPECT_FALSE(load_grid(folder / "huge.toml"));
}

// Every prefix of a good file, and the file with bytes changed at random.
TEST(GridHostile, DamagedFiles) {
  const std::string good(shipped_experiments()[0].toml);
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::string message = error_of(std::string_view(good).substr(0, length));
    EXPECT_TRUE(message.empty() || starts(message, "x.toml")) << message;
  }
  for (std::uint32_t turn = 0; turn < 300; ++turn) {
    std::string bad = good;
    for (std::uint64_t k = 0; k < 4; ++k) {
      const auto block = random_block({.seed = 1, .round = turn}, k);
      bad[block[0] % bad.size()] = static_cast<char>(block[1] & 255);
    }
    const std::string message = error_of(bad);
    EXPECT_TRUE(message.empty() || starts(message, "x.toml")) << message;
  }
}

}  // namespace
}  // namespace boba
