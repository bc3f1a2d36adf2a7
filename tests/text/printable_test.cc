// The one filter between text from outside and a terminal.

#include "boba/text/printable.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace boba::test {
namespace {

using namespace std::string_view_literals;

TEST(Printable, LeavesOrdinaryTextAlone) {
  for (const std::string_view text :
       {""sv, "client-7"sv, "C:\\data\\x"sv, "na\u00EFve \u00B1 \u00B5"sv, "\u0645\u0631\u062D"sv,
        "\u4F60\u597D"sv, "\U0001F600"sv, "a\u00A0b"sv, "\u00A1"sv, "\u2027\u202F\u2070\uFFFD"sv}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, EscapesWhatATerminalObeys) {
  for (const auto& [text, wanted] : {
           std::pair{"a\nb"sv, "a\\nb"sv},
           std::pair{"a\r\tb"sv, "a\\r\\tb"sv},
           std::pair{"\x1b[2J"sv, "\\x1b[2J"sv},
           std::pair{"\0"sv, "\\x00"sv},
           std::pair{"\x7f"sv, "\\x7f"sv},
           std::pair{"\u0080\u009B\u009F"sv, "\\x80\\x9b\\x9f"sv},  // C1 as characters
           std::pair{"\x9b"
                     "31m"sv,
                     "\\x9b31m"sv},  // and as a byte
           std::pair{"\u2028\u2029"sv, "\\u2028\\u2029"sv},
       }) {
    EXPECT_EQ(printable(text), wanted);
  }
}

TEST(Printable, EscapesWhatReversesOrHidesText) {
  for (const auto& [text, wanted] : {
           std::pair{"\u061C"sv, "\\u061c"sv},
           std::pair{"\u200B\u200C\u200D\u200E\u200F"sv, "\\u200b\\u200c\\u200d\\u200e\\u200f"sv},
           std::pair{"\u202A\u202B\u202C\u202D\u202E"sv, "\\u202a\\u202b\\u202c\\u202d\\u202e"sv},
           std::pair{"\u2060\u2066\u2067\u2068\u2069"sv, "\\u2060\\u2066\\u2067\\u2068\\u2069"sv},
           std::pair{"\uFEFF"sv, "\\ufeff"sv},
           std::pair{"\U000E0041"sv, "\\U000e0041"sv},
       }) {
    EXPECT_EQ(printable(text), wanted);
  }
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "an overlong escape";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\ud800") << "half a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
  EXPECT_EQ(printable("end \xe2\x82"), "end \\xe2\\x82") << "a character cut short";
}

// Every text of three bytes out of a set that has the borders of all ranges.
TEST(Printable, GivesOneLineOfUtf8AndTwiceIsAsOnce) {
  const std::string bytes(
      "\x00\x0a\x1b\x1f\x20\x41\x5c\x7e\x7f\x80\x8e\x9b\x9f\xa0\xa8\xbf\xc2\xe2\xed\xef\xf0\xf4"
      "\xff",
      23);
  for (const char a : bytes) {
    for (const char b : bytes) {
      for (const char c : bytes) {
        const std::string once = printable(std::string{a, b, c});
        EXPECT_EQ(printable(once), once);
        for (const char letter : once) {
          EXPECT_TRUE(static_cast<unsigned char>(letter) >= ' ' && letter != '\x7f');
        }
      }
    }
  }
}

TEST(Excerpt, CutsBetweenCharacters) {
  EXPECT_EQ(excerpt(std::string(120, 'a')), std::string(120, 'a'));
  EXPECT_EQ(excerpt(std::string(121, 'a')), std::string(120, 'a') + "...");
  EXPECT_EQ(excerpt(std::string(119, 'a') + "\u00EFb"), std::string(119, 'a') + "...");
  EXPECT_EQ(excerpt("\n" + std::string(200, 'a')), "\\n" + std::string(119, 'a') + "...");
  EXPECT_EQ(excerpt(std::string(200, '\x80')).size(), 4 * 117u + 3) << "no character at all";
}

}  // namespace
}  // namespace boba::test
