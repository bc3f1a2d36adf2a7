// boba rules and boba attacks say what the registries say, no more and no less.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boba/attacks/registry.h"
#include "boba/rules/registry.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

using nlohmann::json;

// Text as it stands without line breaks and indents.
std::string flat(const std::string& text) {
  std::string result;
  for (char c : text) {
    const char space = c == '\n' ? ' ' : c;
    if (space != ' ' || result.empty() || result.back() != ' ') result += space;
  }
  return result;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void expect_explains(const char* command, const Info& info,
                     const std::vector<OptionInfo>& options) {
  const Finished finished = run_boba({command, std::string(info.name)});
  ASSERT_EQ(finished.status, 0) << info.name << finished.err;
  const std::string text = flat(finished.out);
  for (std::string_view part :
       {info.summary, info.computes, info.condition, info.cost, info.citation}) {
    EXPECT_TRUE(contains(text, flat(std::string(part)))) << info.name << ": " << part;
  }
  for (const OptionInfo& option : options) {
    for (const std::string& part :
         {option.name, option.default_value, option.range(), option.help}) {
      EXPECT_TRUE(contains(text, part)) << info.name << ": " << part;
    }
  }
}

void expect_same(const json& object, std::string_view kind, const Info& info,
                 const std::vector<OptionInfo>& options) {
  EXPECT_EQ(object["kind"], kind);
  EXPECT_EQ(object["name"], info.name);
  EXPECT_EQ(object["summary"], info.summary);
  EXPECT_EQ(object["computes"], info.computes);
  EXPECT_EQ(object["condition"], info.condition);
  EXPECT_EQ(object["cost"], info.cost);
  EXPECT_EQ(object["citation"], info.citation);
  ASSERT_EQ(object["options"].size(), options.size());
  for (std::size_t k = 0; k < options.size(); ++k) {
    const json& option = object["options"][k];
    EXPECT_EQ(option["name"], options[k].name);
    EXPECT_EQ(option["type"], options[k].type);
    EXPECT_EQ(option["help"], options[k].help);
    EXPECT_EQ(option["default"].is_number(), options[k].type != "choice");
    if (options[k].type == "choice") {
      EXPECT_EQ(option["choices"], options[k].choices);
    }
    EXPECT_EQ(option.value("word", ""), options[k].word);
  }
}

// Calls body(kind, entry) for every rule and stage.
template <class Body>
void each_rule(Body body) {
  for (const auto& entry : rules()) body("rule", entry);
  for (const auto& entry : mix_stages()) body("mix stage", entry);
  for (const auto& entry : blend_stages()) body("blend stage", entry);
}

TEST(RulesCommand, ListsEveryRuleAndStageWithItsSummary) {
  const Finished finished = run_boba({"rules"});
  EXPECT_EQ(finished.status, 0);
  each_rule([&](const char*, const auto& entry) {
    EXPECT_TRUE(contains(finished.out, "\n  " + std::string(entry.info.name))) << entry.info.name;
    EXPECT_TRUE(contains(finished.out, entry.info.summary)) << entry.info.name;
  });
}

TEST(RulesCommand, ExplainsEachInFull) {
  each_rule([&](const char*, const auto& entry) {
    expect_explains("rules", entry.info, entry.options());
  });
}

TEST(RulesCommand, JsonHasAllInTheSameOrder) {
  const Finished finished = run_boba({"rules", "--json"});
  ASSERT_EQ(finished.status, 0);
  const json list = json::parse(finished.out);
  std::size_t k = 0;
  each_rule([&](const char* kind, const auto& entry) {
    ASSERT_LT(k, list.size());
    expect_same(list[k++], kind, entry.info, entry.options());
  });
  EXPECT_EQ(k, list.size());
}

TEST(RulesCommand, JsonOfOneIsAnObject) {
  const auto entry = rules().front();
  const Finished finished = run_boba({"rules", std::string(entry.info.name), "--json"});
  ASSERT_EQ(finished.status, 0);
  expect_same(json::parse(finished.out), "rule", entry.info, entry.options());
}

TEST(AttacksCommand, ListsExplainsAndPrintsJson) {
  const Finished list = run_boba({"attacks"});
  const Finished text = run_boba({"attacks", "--json"});
  EXPECT_EQ(list.status, 0);
  ASSERT_EQ(text.status, 0);
  const json all = json::parse(text.out);
  ASSERT_EQ(all.size(), attacks().size() + attack_stages().size());
  std::size_t k = 0;
  const auto check = [&](const char* kind, const auto& entries) {
    for (const auto& entry : entries) {
      EXPECT_TRUE(contains(list.out, entry.info.summary)) << entry.info.name;
      expect_same(all[k++], kind, entry.info, entry.options());
      expect_explains("attacks", entry.info, entry.options());
    }
  };
  check("attack", attacks());
  check("stage behind an attack", attack_stages());
}

}  // namespace
}  // namespace boba::test
