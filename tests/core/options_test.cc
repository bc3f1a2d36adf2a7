#include "boba/core/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

namespace boba {
namespace {

enum class Centre { kMean, kMedian };
constexpr std::string_view kCentres[] = {"mean", "median"};

constexpr Info named(std::string_view name) { return {name, {}, {}, {}, {}, {}}; }

struct ToyOptions {
  int f = 0;
  double lambda = 0.25;
  double any = 0;
  Centre centre = Centre::kMean;

  static constexpr Info info() { return named("toy"); }
  static constexpr auto fields() {
    return std::tuple{field("f", &ToyOptions::f, "clients tolerated").between(0, 1 << 20),
                      field("lambda", &ToyOptions::lambda, "a share").between(0, 1),
                      field("any", &ToyOptions::any, "any number"),
                      field("centre", &ToyOptions::centre, "a choice").one_of(kCentres)};
  }
};

struct NoOptions {
  static constexpr Info info() { return named("plain"); }
  static constexpr auto fields() { return std::tuple{}; }
};

Result<ToyOptions> bound(std::string_view spec) {
  const auto stages = parse_spec(spec);
  if (!stages) return stages.error();
  return bind<ToyOptions>(stages->front());
}

std::string error_of(std::string_view spec) {
  const auto options = bound(spec);
  return options ? "bound" : options.error().message;
}

TEST(Bind, ReadsEveryKind) {
  const auto options = bound("toy(centre=median,lambda=0.5,f=3,any=-1e300)");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->f, 3);
  EXPECT_EQ(options->lambda, 0.5);
  EXPECT_EQ(options->any, -1e300);
  EXPECT_EQ(options->centre, Centre::kMedian);
}

TEST(Bind, LeavesDefaults) {
  const auto options = bound("toy");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->f, 0);
  EXPECT_EQ(options->lambda, 0.25);
  EXPECT_EQ(options->centre, Centre::kMean);
}

TEST(Bind, TakesTheEndsOfARange) {
  EXPECT_TRUE(bound("toy(f=0,lambda=0)"));
  EXPECT_TRUE(bound("toy(f=1048576,lambda=1)"));
}

TEST(Bind, ErrorsQuoteWhatCame) {
  const std::pair<const char*, const char*> goldens[] = {
      {"toy(g=1)", "toy: no option g; options are: f, lambda, any, centre"},
      {"toy(f=-1)", "toy: f=-1 is outside [0, 1048576]"},
      {"toy(f=1048577)", "toy: f=1048577 is outside [0, 1048576]"},
      {"toy(f=99999999999999999999)", "toy: f=99999999999999999999 is outside [0, 1048576]"},
      {"toy(f=1.5)", "toy: f=1.5 is not a whole number"},
      {"toy(f=two)", "toy: f=two is not a whole number"},
      {"toy(f=0x10)", "toy: f=0x10 is not a whole number"},
      {"toy(lambda=1.5)", "toy: lambda=1.5 is outside [0, 1]"},
      {"toy(lambda=half)", "toy: lambda=half is not a number"},
      {"toy(lambda=nan)", "toy: lambda=nan is outside [0, 1]"},
      {"toy(lambda=inf)", "toy: lambda=inf is outside [0, 1]"},
      {"toy(centre=mode)", "toy: centre=mode is none of: mean, median"},
      {"toy(centre=Mean)", "toy: centre=Mean is none of: mean, median; did you mean mean?"},
  };
  for (const auto& [spec, message] : goldens) EXPECT_EQ(error_of(spec), message);
}

TEST(Bind, InfinityAndNanAreNoNumbersEvenWithoutARange) {
  for (const char* spec : {"toy(any=inf)", "toy(any=-inf)", "toy(any=nan)", "toy(any=1e999)"}) {
    EXPECT_FALSE(bound(spec)) << spec;
  }
}

TEST(Bind, WithoutOptionsSaysSo) {
  const auto stages = parse_spec("plain(f=1)");
  ASSERT_TRUE(stages);
  const auto options = bind<NoOptions>(stages->front());
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().message, "plain takes no options; got f");
}

TEST(CheckOptions, GuardsTypedCallers) {
  EXPECT_TRUE(check_options(ToyOptions{.f = 7}));
  const auto negative = check_options(ToyOptions{.f = -1});
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().message, "toy: f=-1 is outside [0, 1048576]");
  const auto nan = check_options(ToyOptions{.lambda = std::numeric_limits<double>::quiet_NaN()});
  ASSERT_FALSE(nan);
  EXPECT_EQ(nan.error().message, "toy: lambda=nan is outside [0, 1]");
  EXPECT_FALSE(check_options(ToyOptions{.any = std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(check_options(ToyOptions{.centre = static_cast<Centre>(2)}));
  EXPECT_TRUE(check_options(NoOptions{}));
}

TEST(Canonical, ListsWhatDiffersFromTheDefaults) {
  EXPECT_EQ(canonical(ToyOptions{}), "toy");
  EXPECT_EQ(canonical(ToyOptions{.f = 2}), "toy(f=2)");
  EXPECT_EQ(canonical(ToyOptions{.f = 2, .lambda = 0.5, .centre = Centre::kMedian}),
            "toy(f=2,lambda=0.5,centre=median)");
  EXPECT_EQ(canonical(NoOptions{}), "plain");
}

TEST(Canonical, BindsBackToTheSameOptions) {
  for (double lambda : {0.0, 1.0, 0.1, 1.0 / 3, 0.30000000000000004, 1e-300, 5e-324, 0.25}) {
    const ToyOptions options{.f = 41, .lambda = lambda, .any = -1e22 * lambda};
    const auto again = bound(canonical(options));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->lambda, lambda);
    EXPECT_EQ(again->any, options.any);
    EXPECT_EQ(canonical(*again), canonical(options));
  }
}

TEST(Canonical, DoesNotDependOnTheOrderGiven) {
  const auto options = bound("toy(centre=median,lambda=0.250,f=1)");
  ASSERT_TRUE(options);
  EXPECT_EQ(canonical(*options), "toy(f=1,centre=median)");
}

TEST(Describe, TellsEveryOption) {
  const auto infos = describe<ToyOptions>();
  ASSERT_EQ(infos.size(), 4u);
  EXPECT_EQ(infos[0].name, "f");
  EXPECT_EQ(infos[0].type, "integer");
  EXPECT_EQ(infos[0].default_value, "0");
  EXPECT_EQ(infos[0].help, "clients tolerated");
  EXPECT_EQ(infos[0].range(), "0..1048576");
  EXPECT_EQ(infos[1].type, "number");
  EXPECT_EQ(infos[1].default_value, "0.25");
  EXPECT_EQ(infos[1].range(), "0..1");
  EXPECT_EQ(infos[2].range(), "any");
  EXPECT_EQ(infos[3].type, "choice");
  EXPECT_EQ(infos[3].default_value, "mean");
  EXPECT_EQ(infos[3].range(), "mean|median");
  EXPECT_TRUE(describe<NoOptions>().empty());
}

struct WordOptions {
  double share = 0.5;
  static constexpr Info info() { return {"word", "s", "c", "n", "k", "w"}; }
  static constexpr auto fields() {
    return std::tuple{field("share", &WordOptions::share, "a share")
                          .between(0, 1)
                          .or_word("auto", std::numeric_limits<double>::infinity())};
  }
};

TEST(Word, StandsInANumbersPlace) {
  const auto options = bind<WordOptions>({.name = "word", .values = {{"share", "auto"}}});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(std::isinf(options->share));
  EXPECT_TRUE(check_options(*options));
  EXPECT_EQ(canonical(*options), "word(share=auto)");
  EXPECT_EQ(canonical(WordOptions{}), "word");
  EXPECT_EQ(describe<WordOptions>()[0].range(), "0..1|auto");
  EXPECT_EQ(describe<WordOptions>()[0].word, "auto");
  EXPECT_EQ(describe<WordOptions>()[0].type, "number");
}

TEST(Word, AndNothingElseDoes) {
  const auto error = [](const char* text) {
    const auto options = bind<WordOptions>({.name = "word", .values = {{"share", text}}});
    return options ? "" : options.error().message;
  };
  EXPECT_EQ(error("0.25"), "");
  EXPECT_EQ(error("Auto"), "word: share=Auto is not a number; it may also be auto");
  EXPECT_EQ(error("2"), "word: share=2 is outside [0, 1]; it may also be auto");
  EXPECT_NE(error("inf"), "");
  EXPECT_NE(error("nan"), "");
  EXPECT_NE(error(""), "");
  EXPECT_FALSE(check_options(WordOptions{.share = -std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(check_options(WordOptions{.share = std::nan("")}));
}

struct FileOptions {
  std::string title = "none";
  std::uint64_t seed = 1;

  static constexpr Info info() { return named("file"); }
  static constexpr auto fields() {
    return std::tuple{field("title", &FileOptions::title, "a text"),
                      field("seed", &FileOptions::seed, "a seed")};
  }
};

TEST(TextAndSeed, AreReadAndChecked) {
  const auto bound = [](const char* key, const std::string& text) {
    return bind<FileOptions>({.name = "file", .values = {{key, text}}});
  };
  EXPECT_EQ(bound("title", "a b")->title, "a b");
  EXPECT_EQ(bound("seed", "9223372036854775807")->seed, kLargestSeed);
  EXPECT_EQ(bound("seed", "9223372036854775808").error().message,
            "file: seed=9223372036854775808 is outside [0, 9223372036854775807]");
  EXPECT_EQ(bound("seed", "-1").error().message,
            "file: seed=-1 is outside [0, 9223372036854775807]");
  EXPECT_EQ(bound("title", "a\nb").error().message,
            "file: title has a control character or a line end: 'a\\nb'");
  EXPECT_FALSE(bound("title", std::string(5000, 'a')));
  EXPECT_FALSE(check_options(FileOptions{.seed = kLargestSeed + 1}));
  EXPECT_EQ(canonical(*bound("seed", "7")), "file(seed=7)");
  EXPECT_EQ(describe<FileOptions>()[0].type, "text");
  EXPECT_EQ(describe<FileOptions>()[0].range(), "");
  EXPECT_EQ(describe<FileOptions>()[1].range(), "0..9223372036854775807");
}

Result<std::string> make_toy(const ToyOptions& options) { return canonical(options); }

TEST(Entry, BindsAndMakes) {
  constexpr Entry<std::string> toy = entry<ToyOptions, std::string, make_toy>();
  EXPECT_EQ(toy.info.name, "toy");
  EXPECT_EQ(toy.options().size(), 4u);
  const auto good = toy.make({.name = "toy", .values = {{"f", "2"}}});
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, "toy(f=2)");
  EXPECT_FALSE(toy.make({.name = "toy", .values = {{"f", "x"}}}));
}

}  // namespace
}  // namespace boba
