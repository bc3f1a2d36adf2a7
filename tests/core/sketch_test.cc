#include "boba/core/sketch.h"

#include <gtest/gtest.h>

#include <array>

namespace boba {
namespace {

TEST(GramSpec, ReadsAndPrints) {
  for (const char* spec : {"exact", "sketch", "sketch(length=1024)", "sketch(length=64,seed=9)"}) {
    const auto options = parse_gram(spec);
    ASSERT_TRUE(options) << spec;
    EXPECT_EQ(print_gram(*options), spec);
  }
  const auto spelt = parse_gram("sketch(length=4096, seed=0)");
  ASSERT_TRUE(spelt);
  EXPECT_EQ(print_gram(*spelt), "sketch");
  EXPECT_FALSE(parse_gram("exact")->has_value());
}

TEST(GramSpec, SaysWhatIsWrong) {
  const auto message = [](const char* spec) {
    const auto options = parse_gram(spec);
    return options ? std::string("fine") : options.error().message;
  };
  EXPECT_EQ(message("skecth"),
            "gram is 'exact' or 'sketch(length=4096)', with another length or a seed; got "
            "'skecth'");
  EXPECT_EQ(message("exact(length=64)"), "gram 'exact' has no options; got 'exact(length=64)'");
  EXPECT_EQ(message("sketch(length=100)"), "sketch: length=100 is not a power of two; 64 is");
  EXPECT_NE(message("sketch(length=32)").find("outside [64, 65536]"), std::string::npos);
  EXPECT_NE(message("sketch(seed=-1)").find("outside"), std::string::npos);
  EXPECT_NE(message("sketch(size=64)").find("no option size"), std::string::npos);
  EXPECT_NE(message("sketch | sketch").find("got"), std::string::npos);
  EXPECT_NE(message(""), "fine");
}

TEST(GramSpec, ASeedOfItsOwnComesFirst) {
  const SketchPlan own = sketch_plan({.length = 128, .seed = 5}, 77, 3);
  EXPECT_EQ(own.seed, 5U);
  EXPECT_EQ(own.round, 3U);
  EXPECT_EQ(own.length, 128U);
  EXPECT_EQ(sketch_plan({}, 77, 3).seed, 77U);
}

TEST(SketchLines, DependOnTheirPlaceAlone) {
  const SketchPlan plan{.seed = 11, .round = 1, .length = 1024};
  std::array<SketchLine, 40> all;
  sketch_lines(plan, 0, all);
  for (std::size_t first : {1, 2, 3, 4, 17}) {
    std::array<SketchLine, 7> some;
    sketch_lines(plan, first, some);
    for (std::size_t k = 0; k < some.size(); ++k) {
      EXPECT_EQ(some[k].signs, all[first + k].signs);
      EXPECT_EQ(some[k].place, all[first + k].place);
      EXPECT_LT(some[k].place, 1024);
    }
  }
}

}  // namespace
}  // namespace boba
