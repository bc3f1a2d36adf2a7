// The experiments that boba ships, and the page about them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "simulator/experiment/faults.h"
#include "simulator/experiment/grid.h"
#include "simulator/experiment/keys.h"
#include "simulator/experiment/model_options.h"
#include "tests/support/paths.h"
#include "tests/support/tools_process.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = test::source_dir();

TEST(Shipped, AreTheFilesOfTheFolder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(kRoot / "experiments")) {
    if (entry.path().extension() == ".toml") {
      files[entry.path().stem().string()] = test::read_text(entry.path());
    }
  }
  ASSERT_EQ(shipped_experiments().size(), files.size());
  for (const ShippedExperiment& each : shipped_experiments()) {
    EXPECT_EQ(files[std::string(each.name)], each.toml) << each.name;
  }
  for (const char* name :
       {"quickstart", "mnist", "fashion-mnist", "cifar10", "ag-news", "synthetic"}) {
    EXPECT_TRUE(files.contains(name)) << name;
  }
}

TEST(Shipped, EachIsGoodAndSaysWhatItIs) {
  for (const ShippedExperiment& each : shipped_experiments()) {
    EXPECT_FALSE(each.summary.empty()) << each.name;
    EXPECT_LE(each.summary.size(), 100u) << each.name;
    EXPECT_EQ(each.summary.find('\n'), std::string::npos) << each.name;
    const Result<Grid> grid = load_grid(std::string(each.name));
    ASSERT_TRUE(grid) << grid.error().message;
    EXPECT_EQ(grid->name, each.name);
    for (const Experiment& experiment : grid->experiments) {
      EXPECT_TRUE(check(experiment)) << check(experiment).error().message;
    }
  }
}

TEST(Shipped, ThePapersAreRulesTimesAttacksTimesSeeds) {
  struct Paper {
    const char* name;
    int honest, byzantine, rounds, per_class;
    double rate, decay;
    const char* boba;
  };
  for (const Paper& paper : {Paper{"mnist", 100, 15, 200, 20, 0.1, 0.95, "boba(f=16)"},
                             Paper{"fashion-mnist", 100, 15, 200, 20, 0.1, 0.95, "boba(f=16)"},
                             Paper{"cifar10", 100, 15, 2000, 20, 0.2, 0.8, "boba(f=16)"},
                             Paper{"ag-news", 160, 54, 200, 30, 1.0, 0.95, "boba(f=60)"}}) {
    const Result<Grid> grid = load_grid(paper.name);
    ASSERT_TRUE(grid) << grid.error().message;
    EXPECT_EQ(grid->experiments.size(), 16u * 7u * 3u) << paper.name;
    std::set<std::string> rules;
    std::set<std::string> attacks;
    for (const Experiment& e : grid->experiments) {
      rules.insert(e.rule);
      attacks.insert(e.attack);
      EXPECT_EQ(e.federation.honest, paper.honest);
      EXPECT_EQ(e.federation.byzantine, e.attack == "none" ? 0 : paper.byzantine);
      EXPECT_EQ(e.training.rounds, paper.rounds);
      EXPECT_EQ(e.training.learning_rate, paper.rate);
      EXPECT_EQ(e.training.decay, paper.decay);
      EXPECT_EQ(e.training.decay_start, paper.rounds / 2);
      EXPECT_EQ(e.training.decay_every, paper.rounds / 20);
      if (e.rule == paper.boba) {
        EXPECT_EQ(e.server.per_class, paper.per_class);
      }
    }
    EXPECT_EQ(rules.size(), 16u) << paper.name;
    EXPECT_TRUE(rules.contains(paper.boba)) << paper.name;
    EXPECT_TRUE(rules.contains("coomed(even=lower)")) << paper.name;
    EXPECT_TRUE(rules.contains(fmt::format("bygars(eta={:g})", paper.rate))) << paper.name;
    EXPECT_EQ(attacks, (std::set<std::string>{"none", "gauss(sigma=200,on=parameters)", "ipm",
                                              "lie(sign=plus)", "mimic", "minmax(sign=plus)",
                                              "minsum(sign=plus)"}));
  }
}

TEST(Shipped, TheQuickstartIsTheDemo) {
  const Result<Grid> grid = load_grid("quickstart");
  ASSERT_TRUE(grid) << grid.error().message;
  EXPECT_EQ(grid->experiments.size(), 8u);
  for (const Experiment& e : grid->experiments) {
    EXPECT_EQ(e.data.set, "fashion-mnist");
    EXPECT_EQ(e.data.partition, "pairs");
    EXPECT_EQ(e.federation.honest, 100);
    EXPECT_EQ(e.federation.byzantine, e.attack == "none" ? 0 : 15);
  }
  // The commands that its comments and the page teach.
  for (const char* set : {"attack=lie", "rule=[\"geomed\",\"fltrust\"]"}) {
    const Override override = *parse_override(set);
    const Result<Grid> changed = load_grid("quickstart", {&override, 1});
    EXPECT_TRUE(changed) << changed.error().message;
  }
}

TEST(Shipped, ErrorsOfOverridesAndFilesNameThePlace) {
  const Override override = *parse_override("federation.byzantine=0");
  const Result<Grid> grid = load_grid("mnist", {&override, 1});
  ASSERT_FALSE(grid);
  EXPECT_TRUE(grid.error().message.starts_with("--set federation.byzantine=0: attack = "))
      << grid.error().message;
}

// A bar would end a cell of the table.
std::string cell(std::string_view text, bool quoted = false) {
  if (text.empty()) return " |";
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return quoted ? fmt::format(" `{}` |", escaped) : fmt::format(" {} |", escaped);
}

TEST(Docs, ThePageHasEveryKey) {
  std::string table;
  for (const Key& key : keys()) {
    const OptionInfo& info = key.info;
    table += fmt::format("|{}{}{}{}{}\n", cell(info.name, true), cell(info.type),
                         cell(info.default_value, true), cell(info.range()), cell(info.help));
  }
  EXPECT_NE(test::read_text(kRoot / "docs" / "experiments.md").find(table), std::string::npos)
      << "docs/experiments.md should have\n"
      << table;
}

TEST(Docs, ThePageHasEveryShippedExperimentAndModel) {
  const std::string page = test::read_text(kRoot / "docs" / "experiments.md");
  std::string table;
  for (const ShippedExperiment& each : shipped_experiments()) {
    table += fmt::format("|{}{}\n", cell(each.name, true), cell(each.summary));
  }
  EXPECT_NE(page.find(table), std::string::npos) << "docs/experiments.md should have\n" << table;
  for (const ModelEntry& model : models()) {
    EXPECT_NE(page.find("| `" + std::string(model.info.name)), std::string::npos)
        << model.info.name;
    for (const OptionInfo& option : model.options()) {
      EXPECT_NE(page.find(option.name + "="), std::string::npos) << option.name;
    }
  }
}

// Every TOML block of the page is an experiment.
TEST(Docs, TheExamplesOfThePageAreGood) {
  const std::string page = test::read_text(kRoot / "docs" / "experiments.md");
  std::size_t blocks = 0;
  for (std::size_t at = 0; (at = page.find("```toml\n", at)) != std::string::npos; ++blocks) {
    at += 8;
    const std::string block = page.substr(at, page.find("```", at) - at);
    const Result<Grid> grid = parse_grid(block, "experiments.md", "page");
    EXPECT_TRUE(grid) << grid.error().message << "\n" << block;
  }
  EXPECT_GE(blocks, 2u);
}

}  // namespace
}  // namespace boba
