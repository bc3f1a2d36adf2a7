#include "simulator/report/svg.h"

#include <gtest/gtest.h>

#include "tests/support/report_markup.h"

namespace boba::sim::report {
namespace {

using test::markup_fault;

TEST(MarkupFault, FindsWhatItIsFor) {
  EXPECT_EQ(markup_fault("<svg><g a=\"1\"/>text &amp; more</svg>"), "");
  for (const char* broken : {"<svg>", "<svg></g>", "<svg><g></svg></g>", "<svg a=1></svg>",
                             "<svg a=\"1\" a=\"2\"></svg>", "<svg>&nonsense;</svg>",
                             "<svg>a & b</svg>", "<svg a=\"<\"></svg>", "<svg>a < b</svg>",
                             "<p id=\"x\"></p><p id=\"x\"></p>", "<svg>\x01</svg>"}) {
    EXPECT_NE(markup_fault(broken), "") << broken;
  }
}

TEST(SvgBuilder, IsWellFormedWhateverTheWordsAre) {
  const std::string hostile = "</text></svg><script>x</script>\" onload=\"y' & \x01\xff";
  Svg svg({100, 50.5}, hostile, hostile, {{"class", hostile}});
  svg.open("g", {{"data-tip", hostile}});
  svg.rect(1, 2, -3, 4, {{"class", hostile}});
  svg.text(0, 0, hostile, hostile, {{"transform", hostile}});
  svg.circle(1, 1, 1, {{"class", hostile}});
  svg.line(0, 0, 1, 1, hostile);
  svg.path("M0 0", {{"class", hostile}});
  const std::string out = svg.finish();
  EXPECT_EQ(markup_fault(out), "");
  EXPECT_EQ(out.find("<script"), out.npos);
  EXPECT_EQ(out.find("\" onload"), out.npos);
  EXPECT_NE(out.find("viewBox=\"0 0 100 50.5\""), out.npos);
  EXPECT_NE(out.find("width=\"0\""), out.npos) << "a width is never negative";
}

TEST(SvgBuilder, HasATitleAndADescription) {
  EXPECT_EQ(Svg({10, 10}, "a", "b").finish(),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 10 10\" "
            "width=\"10\" height=\"10\"><title>a</title><desc>b</desc></svg>");
}

TEST(PathDataBuilder, WritesPointsAndBoxes) {
  PathData path;
  EXPECT_TRUE(path.empty());
  path.move(1, 2);
  path.draw(3.5, 4);
  path.close();
  path.box(0, 0, 5, 6);
  EXPECT_EQ(path.data(), "M1 2L3.5 4ZM0 0h5v6h-5z");
}

}  // namespace
}  // namespace boba::sim::report
