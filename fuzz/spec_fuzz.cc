// Spec strings: no text may crash the parser or the registries, and what they print must be read
// back as the same thing.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "boba/attacks/registry.h"
#include "boba/core/spec.h"
#include "boba/rules/registry.h"
#include "fuzz/check.h"

namespace {

// The parser refuses longer texts, and a canonical spelling may be longer than what was typed.
constexpr std::size_t kLongestSpec = 4096;

void check_parser(std::string_view text) {
  const auto stages = boba::parse_spec(text);
  if (!stages) {
    require(!stages.error().message.empty(), "an error has a message");
    return;
  }
  const std::string printed = boba::print_spec(*stages);
  if (printed.size() > kLongestSpec) return;
  const auto again = boba::parse_spec(printed);
  require(again.ok() && boba::print_spec(*again) == printed, "print(parse(s)) == s");
}

void check_rule(std::string_view text) {
  const auto rule = boba::make_aggregator(text);
  if (!rule || rule->spec().size() > kLongestSpec) return;
  const auto again = boba::make_aggregator(rule->spec());
  require(again.ok() && again->spec() == rule->spec(), "a rule's spec makes the same rule");
}

void check_attack(std::string_view text) {
  const auto attack = boba::make_attack(text);
  if (!attack || attack->spec.size() > kLongestSpec) return;
  const auto again = boba::make_attack(attack->spec);
  require(again.ok() && again->spec == attack->spec, "an attack's spec makes the same attack");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_parser(text);
  check_rule(text);
  check_attack(text);
  return 0;
}
