// The files of reproduction/experiments: each expands to what the paper has.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "reproduction/expand.h"
#include "reproduction/paper_file.h"
#include "reproduction/published.h"
#include "tests/reproduction/runs.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using reproduction::expand;
using reproduction::load_paper;
using reproduction::PaperFile;
using reproduction::PaperOptions;
using reproduction::PaperRun;
using reproduction::parse_paper;

struct Count {
  const char* name;
  std::size_t runs;   // with one seed
  std::size_t rules;  // distinct names
  std::size_t attacks;
  std::size_t settings;
};

// Tables and figures as the paper describes them.
constexpr Count kCounts[] = {
    {"unbiasedness", 16 * 3, 16, 1, 1},
    {"robustness", 15 * 3 * 6, 15, 6, 1},
    {"corruption", 15 * 7, 15, 7, 1},
    {"ablation", 5 * 7, 5, 7, 1},
    {"pca", 3 * 2, 1, 1, 1},
    {"time", 16, 16, 1, 1},
    {"server-noise", 2 * 5 * 7, 1, 7, 5},
    {"loss-ratio", 7, 1, 7, 1},
    {"server-mix", 8 * 5 * 7, 8, 7, 5},
    {"server-skew", 7 * 2 * 7, 7, 7, 2},
    {"server-size", 8, 1, 1, 8},
    {"tolerance", 6 * 4, 1, 2, 6},
    {"pmin", 6 * 2, 1, 2, 6},
    {"step", 6 * 5 * 7, 6, 7, 5},
    {"dirichlet", 4 * 3 * 7 * 2, 4, 7, 2},
    {"participation", 4 * 4 * 7, 4, 7, 4},
    {"frameworks", 3 * 7, 1, 7, 3},
    // No part of the paper.
    {"adaptive", 23 * 6, 16, 2, 23},
    {"precision", 7 + 1, 2, 7, 1},
    {"hull", 17 * 7, 9, 7, 1},
    {"hull-attacks", (4 + 16) * 18, 20, 18, 1},
    {"hull-new-ids", 5 + 2 * (1 + 4 * 2), 3, 5, 2},
    {"hull-skew", 5 * 3 * 7, 5, 7, 3},
    {"hull-federation", 4 * 3 * 7, 4, 7, 3},
    {"hull-server-size", 3 * 5 * 8, 3, 8, 5},
};

TEST(PaperFiles, AreTheExperimentsOfThePaper) {
  const auto files = reproduction::shipped_papers();
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 26U);
  std::set<std::string> names;
  for (std::size_t i = 0; i < files->size(); ++i) {
    const PaperFile& file = (*files)[i];
    names.insert(file.name);
    EXPECT_EQ(file.place, static_cast<int>(i) + 1) << file.name;
    EXPECT_FALSE(file.title.empty());
    EXPECT_FALSE(file.what.empty());
    EXPECT_FALSE(file.about.empty());
    EXPECT_TRUE(reproduction::published_values(file.published)) << file.name;
  }
  for (const Count& count : kCounts) EXPECT_TRUE(names.contains(count.name)) << count.name;
  EXPECT_TRUE(names.contains("picture"));
}

TEST(PaperFiles, ExpandToThePapersCounts) {
  for (const Count& count : kCounts) {
    PaperOptions options;
    options.seeds = 1;
    const std::vector<PaperRun> runs = runs_of(count.name, options);
    EXPECT_EQ(runs.size(), count.runs) << count.name;
    std::set<std::string> rules;
    std::set<std::string> attacks;
    std::set<std::string> settings;
    for (const PaperRun& run : runs) {
      rules.insert(run.rule);
      attacks.insert(run.attack);
      settings.insert(run.setting);
    }
    EXPECT_EQ(rules.size(), count.rules) << count.name;
    EXPECT_EQ(attacks.size(), count.attacks) << count.name;
    EXPECT_EQ(settings.size(), count.settings) << count.name;
  }
}

TEST(PaperFiles, HaveASmallVersionThatIsOne) {
  for (const Count& count : kCounts) {
    PaperOptions quick;
    quick.quick = true;
    const std::vector<PaperRun> small = runs_of(count.name, quick);
    ASSERT_FALSE(small.empty()) << count.name;
    std::set<std::string> full;
    for (const PaperRun& run : runs_of(count.name)) full.insert(canonical_text(run.experiment));
    for (const PaperRun& run : small) {
      EXPECT_EQ(run.experiment.seed, 1U);
      EXPECT_GT(run.experiment.data.train, 0) << count.name;
      EXPECT_FALSE(full.contains(canonical_text(run.experiment))) << count.name;
    }
  }
}

// What no option tells apart has a name of its own.
TEST(PaperFiles, AttackersOfNoKindAreASetting) {
  std::set<std::string> seconds;
  std::set<std::string> settings;
  for (const PaperRun& run : runs_of("adaptive")) {
    EXPECT_EQ(run.attack, run.second == "none" ? "none" : "simplex");
    seconds.insert(run.second);
    settings.insert(run.setting);
  }
  EXPECT_EQ(seconds, (std::set<std::string>{"none", "-0.05", "-0.1", "-0.2", "-0.5", "-1"}));
  EXPECT_TRUE(settings.contains("boba(f=16,p_min=auto,parts=2)"));
}

// Where two rules, or two attacks, of one name would share a cell, their whole texts name them.
TEST(PaperFiles, RulesAndAttacksOfOneNameAreToldApart) {
  std::set<std::string> rules;
  std::set<std::string> attacks;
  PaperOptions mnist;
  mnist.grids = {"mnist"};
  for (const PaperRun& run : runs_of("hull", mnist)) {
    rules.insert(run.rule);
    attacks.insert(run.attack);
  }
  EXPECT_EQ(rules,
            (std::set<std::string>{"average", "mkrum", "boba", "boba-hull(f=16)",
                                   "boba-hull(f=16,classes=10)", "boba-hull(f=16,classes=auto)"}));
  EXPECT_EQ(attacks,
            (std::set<std::string>{"none", "gauss", "ipm", "lie", "mimic", "minmax", "minsum"}));
  attacks.clear();
  for (const PaperRun& run : runs_of("hull-attacks")) attacks.insert(run.attack);
  EXPECT_TRUE(attacks.contains("simplex(p_min=-0.1) | noise"));
  EXPECT_TRUE(attacks.contains("simplex(p_min=-0.1,corners=labels) | noise"));
  EXPECT_FALSE(attacks.contains("simplex"));
}

TEST(PaperFiles, SeedsAreThoseOfTheFileOrAskedFor) {
  std::map<std::string, std::set<std::uint64_t>> seeds;
  for (const PaperRun& run : runs_of("robustness")) {
    seeds[run.dataset].insert(run.experiment.seed);
  }
  EXPECT_EQ(seeds["mnist"].size(), 5U);
  EXPECT_EQ(seeds["ag-news"].size(), 3U);
  EXPECT_EQ(seeds["cifar10"].size(), 1U);
  PaperOptions options;
  options.seeds = 7;
  options.grids = {"mnist"};
  EXPECT_EQ(runs_of("unbiasedness", options).size(), 16U * 7);
}

// What Table 1, Table 2 and the figures share is computed once.
TEST(PaperFiles, ShareRuns) {
  std::set<std::string> tables;
  for (const char* name : {"unbiasedness", "robustness"}) {
    for (const PaperRun& run : runs_of(name)) tables.insert(canonical_text(run.experiment));
  }
  const auto shared = [&](const char* name, const std::string& setting) {
    std::size_t in = 0;
    std::size_t all = 0;
    for (const PaperRun& run : runs_of(name)) {
      if (run.setting != setting) continue;
      ++all;
      in += tables.contains(canonical_text(run.experiment)) ? 1 : 0;
    }
    EXPECT_GT(all, 0U) << name;
    EXPECT_EQ(in, all) << name;
  };
  shared("step", "inf");
  shared("server-mix", "0");
  shared("participation", "1");
  shared("frameworks", "fedsgd");
  shared("pmin", "-0.5");
  shared("server-size", "20");
  shared("server-noise", "none");
}

TEST(PaperFiles, SettingsAreReadFromKeysAndOptions) {
  std::set<std::string> alphas;
  for (const PaperRun& run : runs_of("step")) alphas.insert(run.setting);
  EXPECT_EQ(alphas, (std::set<std::string>{"1", "2", "4", "8", "inf"}));
  std::set<std::string> lambdas;
  for (const PaperRun& run : runs_of("server-mix")) lambdas.insert(run.setting);
  EXPECT_EQ(lambdas, (std::set<std::string>{"0", "0.25", "0.5", "0.75", "1"}));
  std::set<std::string> counts;
  for (const PaperRun& run : runs_of("server-skew")) counts.insert(run.setting);
  EXPECT_TRUE(counts.contains("40,40,20,20"));
  std::set<std::pair<std::string, std::string>> cells;
  for (const PaperRun& run : runs_of("tolerance")) cells.insert({run.setting, run.second});
  EXPECT_EQ(cells.size(), 24U);
  EXPECT_TRUE(cells.contains({"100", "54"}));
  EXPECT_TRUE(cells.contains({"0", "0"}));
}

TEST(PaperFiles, RuleNamesAreThoseOfTheStageThatDecides) {
  EXPECT_EQ(reproduction::rule_name("mkrum(f=16) | server-mix(lambda=0.5)"), "mkrum");
  EXPECT_EQ(reproduction::rule_name("bucketing(s=2) | krum(f=16)"), "krum");
  EXPECT_EQ(reproduction::rule_name("boba-no-stage1(f=2)"), "boba-no-stage1");
  EXPECT_EQ(reproduction::rule_name("average"), "average");
  EXPECT_EQ(reproduction::short_name("gauss(sigma=200,on=parameters)"), "gauss");
}

constexpr const char* kGood = R"toml(title = "T"
kind = "table"

[[grid]]
name = "a"
experiment = "synthetic"
)toml";

std::string fault(const std::string& text) {
  const auto file = parse_paper(text, "x.toml", "x");
  return file ? "" : file.error().message;
}

TEST(PaperFiles, MistakesNameTheLine) {
  ASSERT_EQ(fault(kGood), "");
  const std::string good = kGood;
  EXPECT_EQ(fault(good + "colour = 1\n").substr(0, 34), "x.toml:7: unknown key colour; keys");
  EXPECT_NE(fault(good + "sets = ['a=1']\n").find("did you mean"), std::string::npos);
  EXPECT_EQ(fault("titel = \"T\"\n" + good).substr(0, 9), "x.toml:1:");
  EXPECT_EQ(fault(good + "seeds = 0\n"), "x.toml:7: seeds=0 is outside [1, 1000]");
  EXPECT_EQ(fault(good + "seeds = 'two'\n"), "x.toml:7: seeds needs a whole number");
  EXPECT_NE(fault(good + "set = 'attack=none'\n").find("x.toml:7: set needs a list"),
            std::string::npos);
  EXPECT_NE(fault(good + "set = [1]\n").find("x.toml:7"), std::string::npos);
  EXPECT_NE(fault(good + "set = ['seed=3']\n").find("seeds = 3"), std::string::npos);
  EXPECT_NE(fault(good + "set = ['nonsense']\n").find("KEY=VALUE"), std::string::npos);
  EXPECT_NE(fault(good + "[[grid]]\nname = \"a\"\nexperiment = \"b\"\n").find("second grid"),
            std::string::npos);
  EXPECT_NE(fault(good + "[[grid]]\nname = \"b\"\n").find("experiment is missing"),
            std::string::npos);
  EXPECT_EQ(fault("title = \"T\"\nkind = \"tabel\"\n"),
            "x.toml:2: kind=tabel is none of: table, lines, bars, matrix, pca, picture, time, "
            "loss-ratio; did you mean table?");
  EXPECT_NE(fault("title = \"T\"\nkind = \"table\"\n").find("[[grid]]"), std::string::npos);
  EXPECT_NE(
      fault("title = \"T\"\nkind = \"table\"\n[grid]\nname = \"a\"\n").find("double brackets"),
      std::string::npos);
  EXPECT_NE(fault("title = \"T\"\nkind = \n").find("x.toml:2"), std::string::npos);
  EXPECT_NE(fault(std::string(2 << 20, '#')).find("bytes"), std::string::npos);
}

TEST(PaperFiles, MistakesOfASettingNameTheGrid) {
  auto file = parse_paper(std::string(kGood) + "set = ['training.round=1']\n", "x.toml", "x");
  ASSERT_TRUE(file);
  const auto runs = expand(*file, {});
  ASSERT_FALSE(runs);
  EXPECT_NE(runs.error().message.find("x, grid a: "), std::string::npos) << runs.error().message;
  EXPECT_NE(runs.error().message.find("rounds"), std::string::npos) << runs.error().message;
  PaperOptions options;
  options.grids = {"b"};
  const auto other = expand(*file, options);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("its grids are: a"), std::string::npos);
}

TEST(PaperFiles, UnknownNamesAreToldWhatThereIs) {
  const auto file = load_paper("robustnes");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("did you mean robustness?"), std::string::npos)
      << file.error().message;
  EXPECT_NE(file.error().message.find("unbiasedness"), std::string::npos);
}

}  // namespace
}  // namespace boba::test
