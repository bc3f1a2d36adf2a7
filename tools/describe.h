// The registries as text and JSON; nothing here knows a rule or an attack by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/options.h"
#include "tools/command.h"

namespace boba::tools {

// One line of a registry without its factory.
struct Described {
  std::string_view kind;  // "rule", "mix stage", "blend stage", "attack"
  Info info;
  std::vector<OptionInfo> options;
};

template <class Product>
void append_described(std::string_view kind, std::span<const Entry<Product>> entries,
                      std::vector<Described>& all) {
  for (const Entry<Product>& entry : entries) {
    all.push_back({kind, entry.info, entry.options()});
  }
}

// All rules, then all stages.
std::vector<Described> described_rules();
std::vector<Described> described_attacks();

// "krum(f=0, neighbours=0)".
std::string signature(const Described& item);

// For 'boba command [NAME]': prints the item called name, or all if name is empty. what: the noun
// for an item, such as "rule".
Outcome print_described(std::span<const Described> all, std::string_view command,
                        std::string_view what, const std::string& name, bool json);

}  // namespace boba::tools
