// What the pages list is what the registries have. CONTRIBUTING.md says how to write the lists.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "boba/boba.h"
#include "boba/text/names.h"
#include "tests/support/doc_blocks.h"
#include "tests/support/paths.h"

namespace boba::test {
namespace {

namespace fs = std::filesystem;

std::string_view words(ServerData data) {
  switch (data) {
    case ServerData::kNone:
      return "";
    case ServerData::kGradient:
      return "gradient";
    case ServerData::kRows:
      return "gradient per class";
    case ServerData::kLoss:
      return "loss";
    case ServerData::kLossGradient:
      return "loss gradient";
  }
  return "";
}

TEST(ListsInTheDocs, ReadmesRules) {
  std::string table = "\n| rule | what it returns | server data |\n|------|------|------|\n";
  for (const RuleEntry& entry : rules()) {
    const Result<Aggregator> rule = make_aggregator(entry.info.name);
    ASSERT_TRUE(rule) << rule.error().message;
    const std::string_view data = words(rule->server_data());
    table += fmt::format("| [{0}](docs/rules/{0}.md) | {1} |{2}{3} |\n", entry.info.name,
                         entry.info.summary, data.empty() ? "" : " ", data);
  }
  expect_block("README.md", "rules", table);
}

TEST(ListsInTheDocs, ReadmesNumbersAndAttacks) {
  expect_block("README.md", "numbers",
               fmt::format("{} other rules and {} attacks", rules().size() - 1, attacks().size()));
  expect_block("README.md", "attacks", "\n" + join(entry_names(attacks())) + "\n");
}

TEST(ListsInTheDocs, NeedsInTheArchitecture) {
  struct Line {
    Need need;
    std::string_view name;
    std::string_view products;
  };
  std::string table = "\n| `Need` | products | rules |\n|--------|----------|-------|\n";
  for (const Line& line :
       {Line{Need::kNothing, "kNothing", "none"},
        Line{Need::kNorms, "kNorms", "the norm of every update"},
        Line{Need::kServerProducts, "kServerProducts",
             "norms, and products with the server's gradient"},
        Line{Need::kGram, "kGram", "all inner products of the clients"},
        Line{Need::kServerGram, "kServerGram", "all inner products of clients and server rows"}}) {
    std::vector<std::string_view> names;
    for (const RuleEntry& entry : rules()) {
      if (make_aggregator(entry.info.name)->need() == line.need) names.push_back(entry.info.name);
    }
    table += fmt::format("| `{}` | {} | {} |\n", line.name, line.products, join(names));
  }
  expect_block("docs/architecture.md", "needs", table);
}

TEST(ListsInTheDocs, ClassesInPython) {
  std::string table = "\n| class | in specs |\n|-------|----------|\n";
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries) {
      const Info& info = entry.info;
      table += fmt::format("| {}{}{} | {} |\n", python_class(info),
                           info.python_alias.empty() ? "" : ", ", info.python_alias, info.name);
    }
  };
  add(rules());
  add(mix_stages());
  add(blend_stages());
  add(attacks());
  expect_block("docs/python.md", "classes", table);
}

// An option's line: rules say what the registry says, attacks may say more.
std::string option_line(const OptionInfo& option, bool is_attack) {
  if (is_attack) return fmt::format("\n| `{}` | ", option.name);
  std::string range = option.range();
  if (const std::size_t bar = range.find('|'); bar != std::string::npos) range.insert(bar, "\\");
  return fmt::format("\n| {} | {} | {} | {}", option.name, option.default_value, range,
                     option.help);
}

void expect_page(const std::string& kind, const Info& info,
                 const std::vector<OptionInfo>& options) {
  const std::string page = fmt::format("docs/{}s/{}.md", kind, info.name);
  ASSERT_TRUE(fs::is_regular_file(fs::path(source_dir()) / page))
      << page << " is missing: every rule, stage and attack has a page";
  const std::string text = read_page(page);
  for (const OptionInfo& option : options) {
    const std::string line = option_line(option, kind == "attack");
    EXPECT_NE(text.find(line), std::string::npos) << page << " lacks the line:" << line;
  }
}

// Some file of the folder names it in a string.
void expect_test(const std::string& kind, std::string_view name) {
  const fs::path folder = fs::path(source_dir()) / "tests" / (kind + "s");
  for (const auto& file : fs::directory_iterator(folder)) {
    const std::string text = read_page("tests/" + kind + "s/" + file.path().filename().string());
    for (const char* end : {"\"", "(", " |"}) {
      for (const char* begin : {"\"", "| "}) {
        if (text.find(fmt::format("{}{}{}", begin, name, end)) != std::string::npos) return;
      }
    }
  }
  ADD_FAILURE() << "no test of the " << kind << " " << name << ": write tests/" << kind << "s/"
                << name << "_test.cc";
}

TEST(Docs, EveryRuleStageAndAttackHasAPageAndATest) {
  const auto check = [](const std::string& kind, const auto& entries) {
    for (const auto& entry : entries) {
      expect_page(kind, entry.info, entry.options());
      expect_test(kind, entry.info.name);
    }
  };
  check("rule", rules());
  check("rule", mix_stages());
  check("rule", blend_stages());
  check("attack", attacks());
  check("attack", attack_stages());
}

}  // namespace
}  // namespace boba::test
