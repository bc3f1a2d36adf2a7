#include "tools/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "boba/attacks/registry.h"
#include "boba/rules/registry.h"
#include "boba/text/names.h"
#include "boba/text/table.h"
#include "tools/json.h"

namespace boba::tools {
namespace {

constexpr std::size_t kWidth = 92;

Json to_json(const Described& item) {
  Json object = {{"kind", item.kind}};
  object.update(tools::to_json(item.info, item.options));
  return object;
}

void print_section(std::string_view title, std::string_view text) {
  if (text.empty()) return;
  fmt::print("\n{}\n{}", title, wrap(text, kWidth, 2));
}

void print_full(const Described& item) {
  fmt::print("{}  ({})\n{}\n", signature(item), item.kind, item.info.summary);
  print_section("What it computes", item.info.computes);
  fmt::print("\nOptions\n");
  if (item.options.empty()) {
    fmt::print("  none\n");
  } else {
    Table table({{"name"}, {"default"}, {"range"}, {"meaning"}});
    for (const OptionInfo& option : item.options) {
      table.add({option.name, option.default_value, option.range(), option.help});
    }
    fmt::print("{}", table.text(2));
  }
  print_section("Condition", item.info.condition);
  print_section("Cost", item.info.cost);
  print_section("From", item.info.citation);
}

void print_list(std::span<const Described> all) {
  std::size_t widest = 0;
  for (const Described& item : all) widest = std::max(widest, item.info.name.size());
  std::string_view kind;
  for (const Described& item : all) {
    if (item.kind != kind) {
      fmt::print("{}{}s\n", kind.empty() ? "" : "\n", item.kind);
      kind = item.kind;
    }
    fmt::print("  {:<{}}  {}\n", item.info.name, widest, item.info.summary);
  }
}

}  // namespace

std::vector<Described> described_rules() {
  std::vector<Described> all;
  append_described("rule", rules(), all);
  append_described("mix stage", mix_stages(), all);
  append_described("blend stage", blend_stages(), all);
  return all;
}

std::vector<Described> described_attacks() {
  std::vector<Described> all;
  append_described("attack", attacks(), all);
  append_described("stage behind an attack", attack_stages(), all);
  return all;
}

std::string signature(const Described& item) {
  std::string text;
  for (const OptionInfo& option : item.options) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", option.name, option.default_value);
  }
  return fmt::format("{}{}", item.info.name, text.empty() ? "" : "(" + text + ")");
}

Outcome print_described(std::span<const Described> all, std::string_view command,
                        std::string_view what, const std::string& name, bool json) {
  if (name.empty()) {
    if (!json) {
      print_list(all);
      fmt::print("\n'boba {} NAME' prints the definition, the options and the source of one.\n",
                 command);
      return {};
    }
    Json list = Json::array();
    for (const Described& item : all) list.push_back(to_json(item));
    fmt::print("{}", print_json(list));
    return {};
  }
  std::vector<std::string_view> names;
  for (const Described& item : all) {
    names.push_back(item.info.name);
    if (item.info.name != name) continue;
    if (json) {
      fmt::print("{}", print_json(to_json(item)));
    } else {
      print_full(item);
    }
    return {};
  }
  const std::string close = suggestion(name, names);
  return usage(fmt::format("no {} '{}'{}{}there are: {}", what, name, close,
                           close.empty() ? "; " : " ", join(names)));
}

}  // namespace boba::tools
