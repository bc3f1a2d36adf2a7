#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string>

#include "boba/attacks/registry.h"
#include "boba/core/spec.h"
#include "boba/rules/registry.h"
#include "boba/text/names.h"
#include "tests/support/paths.h"
#include "tests/support/registry_specs.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

std::string error_text(std::string_view spec) {
  const Result<Aggregator> made = make_aggregator(spec);
  return made ? "" : made.error().message;
}

TEST(Registry, EveryEntryExplainsItself) {
  const auto check = [](const Info& info, const std::vector<OptionInfo>& options) {
    for (std::string_view text :
         {info.name, info.summary, info.computes, info.condition, info.cost, info.citation}) {
      EXPECT_FALSE(text.empty()) << info.name;
    }
    for (const OptionInfo& option : options) {
      EXPECT_FALSE(option.help.empty()) << info.name << " " << option.name;
      EXPECT_FALSE(option.default_value.empty()) << info.name << " " << option.name;
    }
  };
  for (const auto& entry : rules()) check(entry.info, entry.options());
  for (const auto& entry : mix_stages()) check(entry.info, entry.options());
  for (const auto& entry : blend_stages()) check(entry.info, entry.options());
}

// The words of a registry name, each with a capital: "boba-no-stage1" is BobaNoStage1.
std::string camel_case(std::string_view name) {
  std::string made;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '-') continue;
    const bool first = i == 0 || name[i - 1] == '-';
    made += first ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[i]))) : name[i];
  }
  return made;
}

// In C++, trmean is make_trmean(const TrmeanOptions&), and b-krum make_b_krum(const BKrumOptions&).
TEST(Registry, FactoriesAndOptionsAreCalledAfterTheNames) {
  const auto check = [](const std::string& folder, std::string_view name) {
    std::ifstream file(test::source_dir() + "/" + folder + "/registry.cc");
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    std::string factory = "make_" + std::string(name);
    std::replace(factory.begin(), factory.end(), '-', '_');
    for (const std::string& made : {factory + ">", "<" + camel_case(name) + "Options,"}) {
      EXPECT_NE(source.find(made), std::string::npos)
          << folder << "/registry.cc lacks " << made << " for " << name;
    }
  };
  for (const auto& entry : rules()) check("boba/rules", entry.info.name);
  for (const auto& entry : mix_stages()) check("boba/rules", entry.info.name);
  for (const auto& entry : blend_stages()) check("boba/rules", entry.info.name);
  for (const auto& entry : attacks()) check("boba/attacks", entry.info.name);
  for (const auto& entry : attack_stages()) check("boba/attacks", entry.info.name);
}

TEST(Registry, EverySpecComesBackAsItWas) {
  for (const RuleEntry& rule : rules()) {
    const std::string name(rule.info.name);
    const std::string full = print_spec(full_params(rule.info, rule.options()));
    for (const std::string& text : {name, full}) {
      const Result<Aggregator> made = make_aggregator(text);
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_EQ(made->spec(), text);
      EXPECT_EQ(print_spec(*parse_spec(text)), text);
      for (const MixEntry& mix : mix_stages()) {
        for (const BlendEntry& blend : blend_stages()) {
          const std::string all = print_spec(full_params(mix.info, mix.options())) + " | " + text +
                                  " | " + print_spec(full_params(blend.info, blend.options()));
          EXPECT_EQ(make_aggregator(all)->spec(), all);
          EXPECT_EQ(print_spec(*parse_spec(all)), all);
        }
      }
    }
  }
}

TEST(Registry, DefaultsAreLeftOutOfTheCanonicalName) {
  EXPECT_EQ(make_aggregator("krum ( neighbours = 0 , f = 2 )")->spec(), "krum(f=2)");
  EXPECT_EQ(make_aggregator("bucketing(s=2)|krum(f=02)|server-mix(lambda=0.50)")->spec(),
            "bucketing | krum(f=2) | server-mix");
  EXPECT_EQ(make_aggregator("rage(projection=centred,steps=20)")->spec(), "rage(steps=20)");
  EXPECT_EQ(make_aggregator("b-krum(s=2)")->spec(), "b-krum");
  EXPECT_EQ(make_aggregator("geomed(tolerance=1e-8)")->spec(), "geomed");
}

TEST(Registry, UnknownNames) {
  const std::string list = "rules are: " + join(entry_names(rules())) +
                           "; stages before a rule: bucketing; after it: server-mix";
  EXPECT_EQ(error_text("krumm(f=1)"), "no rule 'krumm'; did you mean krum? " + list);
  EXPECT_EQ(error_text("buckets | krum(f=1)").find("no rule 'buckets'; did you mean bucketing?"),
            0U);
  EXPECT_EQ(error_text("xyzzyxyzzy"), "no rule 'xyzzyxyzzy'; " + list);
}

TEST(Registry, Options) {
  EXPECT_EQ(error_text("krum(g=1)"), "krum: no option g; options are: f, neighbours");
  EXPECT_EQ(error_text("average(f=1)"), "average takes no options; got f");
  EXPECT_EQ(error_text("krum(f=-1)"), "krum: f=-1 is outside [0, 1048576]");
  EXPECT_EQ(error_text("krum(f=one)"), "krum: f=one is not a whole number");
  EXPECT_EQ(error_text("coomed(even=upper)"), "coomed: even=upper is none of: mean, lower");
  EXPECT_EQ(error_text("average | server-mix(lambda=1.5)"),
            "server-mix: lambda=1.5 is outside [0, 1]");
  EXPECT_EQ(error_text("zeno(rho=nan)"), "zeno: rho=nan is outside [0, 1e+30]");
  EXPECT_EQ(error_text("bucketing(s=0) | krum"), "bucketing: s=0 is outside [1, 1048576]");
}

TEST(Registry, EachStageInItsPlace) {
  EXPECT_EQ(error_text("krum(f=1) | bucketing(s=2)"),
            "bucketing must come before the rule: write 'bucketing | krum(f=1)'");
  EXPECT_EQ(error_text("server-mix | krum"),
            "server-mix must come after a rule: write 'average | server-mix'");
  EXPECT_EQ(
      error_text("bucketing(s=3)"),
      "spec 'bucketing(s=3)' has no rule; write 'bucketing(s=3) | krum(f=1)' or another rule");
  EXPECT_EQ(error_text("krum(f=1) | mkrum(f=1)"),
            "krum(f=1) and mkrum are both rules; a spec has one");
  EXPECT_FALSE(error_text("").empty());
  EXPECT_FALSE(error_text("krum(f=1").empty());
}

TEST(Registry, TypedOptionsAreCheckedToo) {
  for (const RuleEntry& rule : rules()) {
    for (const OptionInfo& option : rule.options()) {
      if (!option.choices.empty()) continue;
      const std::string below = option.name + "=" + detail::print_number(option.low - 1);
      EXPECT_NE(error_text(std::string(rule.info.name) + "(" + below + ")").find("outside"),
                std::string::npos)
          << rule.info.name << " " << below;
    }
  }
}

}  // namespace
}  // namespace boba::test
