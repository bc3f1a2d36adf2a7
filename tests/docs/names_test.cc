// Nothing but the registries keeps a list of rules or attacks: no source names one in a string,
// apart from those listed here. Tests take rules as examples; a test that needs them all asks the
// registry.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "boba/boba.h"
#include "tests/support/doc_blocks.h"
#include "tests/support/paths.h"

namespace boba::test {
namespace {

namespace fs = std::filesystem;

struct Allowed {
  std::string_view path;  // a file, or a folder that ends with /
  std::string_view why;
};

constexpr Allowed kAllowed[] = {
    {"boba/rules/", "a rule's own name is in its header and its messages"},
    {"boba/attacks/", "the same for attacks"},
    {"tools/example.cc", "the demo's rules and attacks"},
    {"tools/bench_rules.cc", "what a stage behind the cheapest rule costs"},
    {"reproduction/", "the paper's rules and attacks"},
    {"simulator/experiment/experiment.h", "an experiment's default rule"},
    {"bench/", "what a benchmark times"},
    {"python/boba/_parts.py", "an example in a message"},
    {"python/boba/flower/strategy.py", "the strategy's default rule"},
    {"python/boba/flower/buffers.py", "policies for buffers, which are no rules"},
    {"examples/flower/robustfl/client_app.py", "the attackers of the example"},
    {"scripts/theory_plots.py", "a figure's file"},
    {"tests/hunt/", "each rule's definition, once more"},
    {"tests/train/simulation_test.cc", "what each attack does to a federation"},
};

// Words of their own in other places: a section of an experiment, the program.
constexpr std::string_view kOtherWords[] = {"server", "boba"};

bool is_allowed(std::string_view path) {
  return std::any_of(std::begin(kAllowed), std::end(kAllowed), [&](const Allowed& one) {
    return one.path.ends_with('/') ? path.starts_with(one.path) : path == one.path;
  });
}

bool is_test(std::string_view path) {
  return path.starts_with("tests/") || path.starts_with("python/tests/");
}

struct Literal {
  std::size_t line = 0;
  std::string text;
};

// The strings of a source that end on their line; comments and texts of several lines are skipped.
std::vector<Literal> literals(const std::string& text, bool python) {
  std::vector<Literal> found;
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](std::string_view part) { return text.compare(i, part.size(), part) == 0; };
    const auto skip_past = [&](std::string_view end) {
      const std::size_t stop = std::min(text.find(end, i + end.size()), text.size());
      line += static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                                  text.begin() + static_cast<std::ptrdiff_t>(stop),
                                                  '\n'));
      i = stop + end.size() - 1;
    };
    if (text[i] == '\n') {
      ++line;
    } else if (python ? at("#") : at("//")) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (!python && at("/*")) {
      skip_past("*/");
    } else if (!python && at("R\"(")) {
      skip_past(")\"");
    } else if (python && at("\"\"\"")) {
      skip_past("\"\"\"");
    } else if (text[i] == '"' || text[i] == '\'') {
      const char quote = text[i];
      std::string content;
      for (++i; i < text.size() && text[i] != quote && text[i] != '\n'; ++i) {
        if (text[i] == '\\') ++i;
        content += text[i];
      }
      if (i < text.size() && text[i] == '\n') ++line;
      if (python || quote == '"') found.push_back({line, content});
    }
  }
  return found;
}

std::set<std::string, std::less<>> names_of(const auto& entries) {
  std::set<std::string, std::less<>> names;
  for (const auto& entry : entries) names.emplace(entry.info.name);
  return names;
}

// The names that a literal is, or that begin one of its stages: "krum", "krum(f=", "a | krum(f=1)".
std::vector<std::string> named(const std::string& literal,
                               const std::set<std::string, std::less<>>& names) {
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin <= literal.size();) {
    const std::size_t end = std::min(literal.find('|', begin), literal.size());
    std::string stage = literal.substr(begin, end - begin);
    begin = end + 1;
    stage.erase(0, stage.find_first_not_of(' '));
    const std::size_t bracket = stage.find('(');
    std::string name = stage.substr(0, bracket);
    name.erase(name.find_last_not_of(' ') + 1);
    const bool other =
        std::find(std::begin(kOtherWords), std::end(kOtherWords), name) != std::end(kOtherWords);
    if (other && bracket == std::string::npos) continue;
    // Text that goes on behind the bracket is an example in a help page.
    const std::size_t close = stage.find_last_of(')');
    if (close < stage.find_last_not_of(' ')) continue;
    if (names.contains(name)) found.push_back(name);
  }
  return found;
}

struct Source {
  std::string path;
  std::string text;
};

std::vector<Source> sources() {
  std::vector<Source> all;
  const fs::path root = source_dir();
  for (const char* folder : {"boba", "simulator", "reproduction", "tools", "python", "bench",
                             "scripts", "fuzz", "examples", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string ending = entry.path().extension();
      if (ending != ".cc" && ending != ".h" && ending != ".cu" && ending != ".py") continue;
      std::string path = entry.path().lexically_relative(root).generic_string();
      std::string text = read_page(path);
      all.push_back({std::move(path), std::move(text)});
    }
  }
  return all;
}

TEST(Names, OfRulesAndAttacksAreInTheRegistriesOnly) {
  std::set<std::string, std::less<>> names = names_of(rules());
  names.merge(names_of(attacks()));
  std::size_t read = 0;
  for (const Source& source : sources()) {
    ++read;
    if (is_test(source.path) || is_allowed(source.path)) continue;
    for (const Literal& literal : literals(source.text, source.path.ends_with(".py"))) {
      EXPECT_TRUE(named(literal.text, names).empty())
          << source.path << ":" << literal.line << " names \"" << literal.text
          << "\"; ask the registry or the object, or give a reason in tests/docs/names_test.cc";
    }
  }
  EXPECT_GT(read, 500U);
}

TEST(Names, NoTestKeepsAListOfThem) {
  const auto rule_names = names_of(rules());
  const auto attack_names = names_of(attacks());
  for (const Source& source : sources()) {
    if (!is_test(source.path) || is_allowed(source.path)) continue;
    std::set<std::string> of_rules;
    std::set<std::string> of_attacks;
    for (const Literal& literal : literals(source.text, source.path.ends_with(".py"))) {
      for (std::string& name : named(literal.text, rule_names)) of_rules.insert(std::move(name));
      for (std::string& name : named(literal.text, attack_names)) {
        of_attacks.insert(std::move(name));
      }
    }
    EXPECT_LT(4 * of_rules.size(), 3 * rule_names.size())
        << source.path << " names most rules; take rule_cases() or rules()";
    EXPECT_LT(4 * of_attacks.size(), 3 * attack_names.size())
        << source.path << " names most attacks; take attack_specs() or attacks()";
  }
}

TEST(Names, EveryReasonIsStillNeeded) {
  std::set<std::string, std::less<>> names = names_of(rules());
  names.merge(names_of(attacks()));
  for (const Allowed& one : kAllowed) {
    bool needed = false;
    for (const Source& source : sources()) {
      if (one.path.ends_with('/') ? !source.path.starts_with(one.path) : source.path != one.path) {
        continue;
      }
      for (const Literal& literal : literals(source.text, source.path.ends_with(".py"))) {
        needed = needed || !named(literal.text, names).empty();
      }
    }
    EXPECT_TRUE(needed) << one.path << " names no rule or attack: take it off the list";
  }
}

TEST(Names, LiteralsAreFound) {
  const auto lines = [](const std::string& text, bool python) {
    std::string all;
    for (const Literal& one : literals(text, python)) {
      all += fmt::format("{}:{};", one.line, one.text);
    }
    return all;
  };
  EXPECT_EQ(lines("// \"a\"\nf(\"b\\\"c\", '\"'); /* \"d\"\n */ g(\"e\")\n", false), "2:b\"c;3:e;");
  EXPECT_EQ(lines("# 'a'\nf('b')\n\"\"\"'c'\n\"\"\" 'd'", true), "2:b;4:d;");
  const std::set<std::string, std::less<>> names = {"krum", "boba"};
  EXPECT_EQ(named("krum", names).size(), 1U);
  EXPECT_EQ(named("average | krum(f=", names).size(), 1U);
  EXPECT_EQ(named("boba(f=1)", names).size(), 1U);
  EXPECT_TRUE(named("boba", names).empty());
  EXPECT_TRUE(named("krum needs", names).empty());
  EXPECT_TRUE(named("--rule 'geomed | krum(f=1)' --out", names).empty());
}

}  // namespace
}  // namespace boba::test
