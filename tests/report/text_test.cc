#include "simulator/report/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace boba::sim::report {
namespace {

TEST(Escape, LeavesNothingThatMarkupCouldRead) {
  EXPECT_EQ(escape("<script>alert('a' & \"b\")</script>"),
            "&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)&lt;/script&gt;");
  EXPECT_EQ(escape("plain · µ ± “ok”"), "plain · µ ± “ok”");
  EXPECT_EQ(escape(""), "");
}

TEST(Escape, ReplacesBytesThatAreNoTextOfAPage) {
  EXPECT_EQ(escape(std::string("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(escape("\x1b[31m"), "\uFFFD[31m");
  EXPECT_EQ(escape("\xff\xfe"), "\uFFFD\uFFFD");
  EXPECT_EQ(escape("\xc0\xbc"), "\uFFFD\uFFFD") << "an overlong <";
  EXPECT_EQ(escape("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(escape("end \xe2\x82"), "end \uFFFD\uFFFD") << "a character cut short";
  EXPECT_EQ(escape("a\tb\nc"), "a b\nc");
}

TEST(Clip, CountsCharactersNotBytes) {
  EXPECT_EQ(clip("äöü", 3), "äöü");
  EXPECT_EQ(clip("äöüß", 3), "äö…");
  EXPECT_EQ(clip("boba", 10), "boba");
  EXPECT_EQ(clip("", 3), "");
  EXPECT_EQ(clip(std::string(1000000, 'x'), 4), "xxx…");
}

TEST(Number, IsShortAndAlwaysANumber) {
  EXPECT_EQ(number(3), "3");
  EXPECT_EQ(number(2.5), "2.5");
  EXPECT_EQ(number(1.0 / 3), "0.33");
  EXPECT_EQ(number(-0.001), "0");
  EXPECT_EQ(number(100), "100");
  EXPECT_EQ(number(std::nan("")), "0");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "0");
}

TEST(Percent, ShowsDeviationsOfSeveralRunsOnly) {
  EXPECT_EQ(percent(0.9234), "92.3");
  EXPECT_EQ(percent(0.9234, 0.004, 3), "92.3 ± 0.4");
  EXPECT_EQ(percent(0.9234, 0, 1), "92.3");
  EXPECT_EQ(percent(std::nan("")), "–");
}

TEST(Duration, ChoosesTheUnit) {
  EXPECT_EQ(duration(0), "0");
  EXPECT_EQ(duration(0.00085), "850 µs");
  EXPECT_EQ(duration(0.0123), "12.3 ms");
  EXPECT_EQ(duration(0.31), "310 ms");
  EXPECT_EQ(duration(0.9996), "1.00 s");
  EXPECT_EQ(duration(4.564), "4.56 s");
  EXPECT_EQ(duration(73), "73.0 s");
  EXPECT_EQ(duration(200), "3 min 20 s");
  EXPECT_EQ(duration(7500), "2 h 05 min");
  EXPECT_EQ(duration(-1), "–");
  EXPECT_EQ(duration(std::nan("")), "–");
}

TEST(Listed, NamesAFewAndCountsTheRest) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(listed(Words{}), "");
  EXPECT_EQ(listed(Words{"a"}), "a");
  EXPECT_EQ(listed(Words{"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(listed(Words{"a", "b", "c", "d"}, 2), "a, b and 2 others");
  EXPECT_EQ(listed(Words{"a", "b", "c"}, 2), "a, b and c") << "never 'and 1 others'";
}

}  // namespace
}  // namespace boba::sim::report
