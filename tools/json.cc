#include "tools/json.h"

#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <variant>

namespace boba::tools {
namespace {

Json value(double number) { return json_number(number); }
template <class T>
Json value(const T& one) {
  return one;
}
template <class T>
Json value(const std::optional<T>& one) {
  return one ? value(*one) : Json();
}
Json value(const ClientVerdict& client);
template <class T>
Json value(const std::vector<T>& many) {
  Json array = Json::array();
  for (const auto& one : many) array.push_back(value(one));
  return array;
}

// The object's own keys win.
void add_measures(std::span<const NamedValue> measures, Json& object) {
  for (const NamedValue& measure : measures) {
    if (!object.contains(measure.name)) object[measure.name] = json_number(measure.value);
  }
}

Json value(const std::vector<NamedValue>& measures) {
  Json object = Json::object();
  add_measures(measures, object);
  return object;
}

void add_facts(std::span<const Fact> facts, Json& object) {
  for (const Fact& fact : facts) {
    object[std::string(fact.field->name)] =
        std::visit([](const auto& v) { return value(v); }, fact.value);
  }
}

// A client's numbers, and what rules say in fields of their own, become keys of the object.
template <class T>
Json object_of(const T& described) {
  Json object;
  each_field(described, [&]<class V>(const FieldInfo& field, const V& field_value) {
    if constexpr (std::same_as<V, std::vector<Fact>>) {
      add_facts(field_value, object);
    } else if constexpr (std::same_as<V, std::vector<RuleReport>>) {
      for (const RuleReport& report : field_value) add_facts(report.facts, object[report.name]);
    } else if constexpr (std::same_as<V, std::vector<NamedValue>> &&
                         std::same_as<T, ClientVerdict>) {
      add_measures(field_value, object);
    } else if (field.absent == Absent::kWritten || !is_absent(field_value)) {
      object[std::string(field.name)] = value(field_value);
    } else if (field.absent == Absent::kNull) {
      object[std::string(field.name)] = nullptr;
    }
  });
  return object;
}

Json value(const ClientVerdict& client) { return object_of(client); }

// An option's default as JSON's own type: a number where the option is one.
Json typed_default(const OptionInfo& option) {
  if (option.type == "choice") return option.default_value;
  const char* end = option.default_value.data() + option.default_value.size();
  double value = 0;
  const auto [stop, status] = std::from_chars(option.default_value.data(), end, value);
  if (status != std::errc() || stop != end) return option.default_value;
  if (option.type == "integer") return static_cast<long long>(value);
  return json_number(value);
}

Json to_json(const OptionInfo& option) {
  Json object = {{"name", option.name},
                 {"type", option.type},
                 {"default", typed_default(option)},
                 {"help", option.help}};
  if (!option.choices.empty()) {
    object["choices"] = option.choices;
    return object;
  }
  using Limits = std::numeric_limits<double>;
  object["low"] = option.low == Limits::lowest() ? Json() : json_number(option.low);
  object["high"] = option.high == Limits::max() ? Json() : json_number(option.high);
  if (!option.word.empty()) object["word"] = option.word;
  return object;
}

// File names and the like may hold bytes that are no UTF-8; those become U+FFFD. Whatever is not
// ASCII is escaped: the text stays the same, and a terminal has nothing to obey.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json json_numbers(std::span<const double> values) {
  Json array = Json::array();
  for (double value : values) array.push_back(json_number(value));
  return array;
}

Json to_json(const Verdict& verdict) { return object_of(verdict); }

Json to_json(const Info& info, std::span<const OptionInfo> options) {
  Json object = {{"name", info.name},         {"summary", info.summary},
                 {"computes", info.computes}, {"condition", info.condition},
                 {"cost", info.cost},         {"citation", info.citation}};
  Json list = Json::array();
  for (const OptionInfo& option : options) list.push_back(to_json(option));
  object["options"] = std::move(list);
  return object;
}

std::string print_json(const Json& json) { return dump(json, 2) + "\n"; }

std::string print_report(const Json& report) {
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : report.items()) {
    text += separator;
    separator = ",\n";
    text += "  " + dump(key, -1) + ": ";
    if (!value.is_array() || value.empty() || !value.front().is_object()) {
      text += dump(value, -1);
      continue;
    }
    text += "[";
    const char* between = "\n    ";
    for (const Json& element : value) {
      text += between + dump(element, -1);
      between = ",\n    ";
    }
    text += "\n  ]";
  }
  return text + "\n}\n";
}

}  // namespace boba::tools
