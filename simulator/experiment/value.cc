#include "simulator/experiment/value.h"

#include <fmt/format.h>

#include "boba/core/options.h"
#include "boba/text/printable.h"

namespace boba::sim {
namespace {

struct Describe {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("the number {}", value); }
  std::string operator()(double value) const {
    return fmt::format("the number {}", detail::print_number(value));
  }
  std::string operator()(const std::string& value) const {
    return fmt::format("the text '{}'", excerpt(value));
  }
  std::string operator()(const OtherValue& value) const { return value.text; }
};

}  // namespace

std::string describe_value(const Value& value) { return std::visit(Describe(), value); }

}  // namespace boba::sim
