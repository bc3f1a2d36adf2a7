// Parts of a text.

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "boba/text/split.h"

namespace boba {
namespace {

TEST(Text, TrimmedAtBothEnds) {
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \t\r\n a b \r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, SpecsAreSplitOutsideBrackets) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split_specs("krum(f=2,neighbours=3), boba"), (Parts{"krum(f=2,neighbours=3)", "boba"}));
  EXPECT_EQ(split_specs("a|b(c(d,e),f),"), (Parts{"a|b(c(d,e),f)", ""}));
  EXPECT_EQ(split_specs("a),b"), (Parts{"a)", "b"}));
  EXPECT_EQ(split_specs("a(b,c"), (Parts{"a(b,c"}));
  EXPECT_EQ(split_specs(""), (Parts{""}));
}

}  // namespace
}  // namespace boba
