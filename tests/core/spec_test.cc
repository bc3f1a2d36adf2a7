#include "boba/core/spec.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "boba/core/random.h"

namespace boba {
namespace {

std::string error_of(std::string_view text) {
  const auto result = parse_spec(text);
  return result ? "parsed" : result.error().message;
}

TEST(ParseSpec, ReadsANameAlone) {
  const auto stages = parse_spec("average");
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->size(), 1u);
  EXPECT_EQ((*stages)[0].name, "average");
  EXPECT_TRUE((*stages)[0].values.empty());
}

TEST(ParseSpec, ReadsStagesAndOptionsInOrder) {
  const auto stages =
      parse_spec("bucketing(s=2) | krum(f=16,neighbours=3)|server-mix(lambda=1e-3)");
  ASSERT_TRUE(stages) << stages.error().message;
  ASSERT_EQ(stages->size(), 3u);
  EXPECT_EQ((*stages)[0].name, "bucketing");
  EXPECT_EQ((*stages)[1].name, "krum");
  ASSERT_EQ((*stages)[1].values.size(), 2u);
  EXPECT_EQ((*stages)[1].values[0].first, "f");
  EXPECT_EQ((*stages)[1].values[0].second, "16");
  EXPECT_EQ((*stages)[1].values[1].first, "neighbours");
  EXPECT_EQ((*stages)[1].values[1].second, "3");
  EXPECT_EQ((*stages)[2].name, "server-mix");
  EXPECT_EQ((*stages)[2].values[0].second, "1e-3");
}

TEST(ParseSpec, SpaceMayStandBetweenParts) {
  for (std::string_view text :
       {"a(k=1,m=2)|b", " a(k=1,m=2)|b ", "a ( k = 1 , m = 2 ) | b", "\ta(\tk=1,\tm=2)\t|\tb\t"}) {
    const auto stages = parse_spec(text);
    ASSERT_TRUE(stages) << stages.error().message;
    EXPECT_EQ(print_spec(*stages), "a(k=1,m=2) | b") << text;
  }
}

TEST(ParseSpec, EmptyBracketsAreNone) {
  const auto stages = parse_spec("krum()");
  ASSERT_TRUE(stages);
  EXPECT_EQ(print_spec(*stages), "krum");
}

TEST(ParseSpec, ErrorsSayWhereAndWhat) {
  const std::pair<const char*, const char*> goldens[] = {
      {"", "spec '': expected a name at the end"},
      {"   ", "spec '   ': expected a name at the end"},
      {"|", "spec '|': expected a name at character 1, got '|'"},
      {"a|", "spec 'a|': expected a name at the end"},
      {"a||b", "spec 'a||b': expected a name at character 3, got '|'"},
      {"(f=1)", "spec '(f=1)': expected a name at character 1, got '('"},
      {"krum(", "spec 'krum(': expected an option's name at the end"},
      {"krum(f", "spec 'krum(f': expected = after f at the end"},
      {"krum(f)", "spec 'krum(f)': expected = after f at character 7, got ')'"},
      {"krum(f=", "spec 'krum(f=': expected a value of f at the end"},
      {"krum(f=)", "spec 'krum(f=)': expected a value of f at character 8, got ')'"},
      {"krum(f=1", "spec 'krum(f=1': expected , or ) at the end"},
      {"krum(f=1,)", "spec 'krum(f=1,)': expected an option's name at character 10, got ')'"},
      {"krum(f=1))", "spec 'krum(f=1))': expected | or the end at character 10, got ')'"},
      {"krum(f=1 2)", "spec 'krum(f=1 2)': expected , or ) at character 10, got '2'"},
      {"krum(f==1)", "spec 'krum(f==1)': expected a value of f at character 8, got '='"},
      {"krum f", "spec 'krum f': expected | or the end at character 6, got 'f'"},
      {"krum(f=1,f=2)", "krum: f is given twice"},
  };
  for (const auto& [text, message] : goldens) EXPECT_EQ(error_of(text), message);
}

TEST(ParseSpec, LimitsTheLength) {
  EXPECT_TRUE(parse_spec(std::string(4096, 'a')));
  EXPECT_EQ(error_of(std::string(4097, 'a')), "spec: 4097 characters; at most 4096 are read");
}

TEST(ParseSpec, RefusesHostileBytes) {
  using namespace std::string_view_literals;
  for (std::string_view text : {"\0"sv, "krum\0"sv, "kr\0um"sv, "krum(f=\0)"sv, "\xff"sv,
                                "kr\xc3\xbc"
                                "m"sv,
                                "krum\n"sv, "krum(f=1)\r\n"sv, "krum(f=\x1b[2J)"sv, "\x7f"sv}) {
    const auto result = parse_spec(text);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(result.error().message.find("got byte 0x"), std::string::npos)
        << result.error().message;
    for (char c : result.error().message) EXPECT_TRUE(c >= 32 && c < 127);
  }
}

// Random text from the grammar's own alphabet gets far into the parser.
TEST(ParseSpec, WhatParsesPrintsToItself) {
  constexpr std::string_view kAlphabet = "ab1-(),,==|| ";
  const StreamKey key{.seed = 7, .purpose = Purpose::kSynthetic};
  std::uint64_t at = 0;
  std::size_t parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    const auto length = static_cast<std::size_t>(uniform_at(key, at++) * 14);
    for (std::size_t k = 0; k < length; ++k) {
      text += kAlphabet[static_cast<std::size_t>(uniform_at(key, at++) *
                                                 static_cast<double>(kAlphabet.size()))];
    }
    const auto stages = parse_spec(text);
    if (!stages) continue;
    ++parsed;
    const std::string canonical = print_spec(*stages);
    const auto again = parse_spec(canonical);
    ASSERT_TRUE(again) << text << " printed as " << canonical;
    EXPECT_EQ(print_spec(*again), canonical) << text;
  }
  EXPECT_GT(parsed, 100u);
}

TEST(PrintSpec, InvertsParseOnCanonicalText) {
  for (std::string text : {"average", "krum(f=16)", "bucketing(s=2) | krum(f=16,neighbours=4)",
                           "trmean(f=1) | server-mix(lambda=0.25)"}) {
    const auto stages = parse_spec(text);
    ASSERT_TRUE(stages);
    EXPECT_EQ(print_spec(*stages), text);
  }
}

}  // namespace
}  // namespace boba
