#include "boba/text/names.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace boba {
namespace {

TEST(Suggestion, NamesTheNearest) {
  constexpr std::array<std::string_view, 4> kNames = {"average", "krum", "mkrum", "geomed"};
  EXPECT_EQ(suggestion("krumm", kNames), "; did you mean krum?");
  EXPECT_EQ(suggestion("mkrm", kNames), "; did you mean mkrum?");
  EXPECT_EQ(suggestion("geomedian", kNames), "; did you mean geomed?");
  EXPECT_EQ(suggestion("zzzzzz", kNames), "");
  EXPECT_EQ(suggestion("", {}), "");
  EXPECT_EQ(suggestion(std::string(5000, 'k'), kNames), "");
}

TEST(Suggestion, TakesTheFirstOfEquals) {
  constexpr std::array<std::string_view, 2> kNames = {"ab", "ac"};
  EXPECT_EQ(suggestion("ad", kNames), "; did you mean ab?");
}

TEST(Join, SeparatesByCommas) {
  constexpr std::array<std::string_view, 3> kNames = {"a", "b", "c"};
  EXPECT_EQ(join(kNames), "a, b, c");
  EXPECT_EQ(join({}), "");
}

}  // namespace
}  // namespace boba
