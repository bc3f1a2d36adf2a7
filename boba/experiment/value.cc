#include "boba/experiment/value.h"

#include <fmt/format.h>

#include <cstddef>

#include "boba/core/options.h"

namespace boba {
namespace {

constexpr std::size_t kMostShown = 120;

struct Describe {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("the number {}", value); }
  std::string operator()(double value) const {
    return fmt::format("the number {}", detail::print_number(value));
  }
  std::string operator()(const std::string& value) const {
    return fmt::format("the text '{}'", printable(value));
  }
  std::string operator()(const OtherValue& value) const { return value.text; }
};

}  // namespace

std::string describe_value(const Value& value) { return std::visit(Describe(), value); }

std::string printable(std::string_view text) {
  std::string shown(text.substr(0, kMostShown));
  for (char& c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 127) c = '?';
  }
  // Not in the middle of a character of several bytes.
  if (text.size() > kMostShown) {
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0) == 0x80) {
      shown.pop_back();
    }
    if (!shown.empty() && static_cast<unsigned char>(shown.back()) >= 0xC0) shown.pop_back();
    shown += "...";
  }
  return shown;
}

}  // namespace boba
