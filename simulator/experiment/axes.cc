#include "simulator/experiment/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "boba/text/printable.h"
#include "simulator/experiment/toml_reader.h"

namespace boba::sim {
namespace {

Error at(std::string_view origin, std::size_t line, std::string_view message) {
  return invalid_argument(fmt::format("{}:{}: {}", origin, line, message));
}

// A key at the top that should not be there.
Error unknown_at_top(const TomlEntry& entry) {
  if (!is_section(entry.name)) return unknown_key("", entry.name);
  return invalid_argument(
      fmt::format("{0} is a section; write [{0}] once and its keys below it", entry.name));
}

Result<void> check_sections(const TomlDocument& document, std::string_view origin) {
  for (const TomlSection& section : document.sections) {
    if (is_section(section.name)) continue;
    if (find_key(section.name) != nullptr && section.name.find('.') == std::string::npos) {
      return at(origin, section.line,
                fmt::format("{0} is a key, not a section; write {0} = ... at "
                            "the top of the file",
                            section.name));
    }
    return at(origin, section.line, unknown_section(section.name).message);
  }
  return {};
}

// A list of numbers that was meant as one value.
std::string hint_for(const Key& key, const TomlEntry& entry) {
  if (!entry.is_list || key.path() != "server.counts") return "";
  return "; a list is a sweep: write \"40,40,20,20\"";
}

Result<void> check_values(const Axis& axis) {
  Experiment scratch;
  for (const AxisValue& value : axis.values) {
    const Result<void> good = axis.key->read(value.value, scratch);
    if (!good) return placed(value, good.error().message);
  }
  return {};
}

std::string empty_list(const Key& key) {
  return fmt::format("{} is an empty list; a sweep has at least one value", key.path());
}

Result<Axis> file_axis(const TomlEntry& entry, std::string_view origin) {
  const std::string path =
      entry.section.empty() ? entry.name : fmt::format("{}.{}", entry.section, entry.name);
  Axis axis;
  // A key with a dot in quotes does not belong to a section.
  const bool dotted = entry.name.find('.') != std::string::npos;
  axis.key = dotted ? nullptr : find_key(path);
  if (axis.key == nullptr) {
    const Error error =
        entry.section.empty() ? unknown_at_top(entry) : unknown_key(entry.section, entry.name);
    return at(origin, entry.line, error.message);
  }
  if (entry.values.empty()) return at(origin, entry.line, empty_list(*axis.key));
  for (const PlacedValue& value : entry.values) {
    axis.values.push_back(
        {value.value, fmt::format("{}:{}", origin, value.line), hint_for(*axis.key, entry)});
  }
  if (Result<void> good = check_values(axis); !good) return good.error();
  return axis;
}

// Whether a comma stands outside of brackets: "1,2,3", but not "krum(f=1,neighbours=2)".
bool has_comma(std::string_view text) {
  int depth = 0;
  for (char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) return true;
  }
  return false;
}

// Texts need no quotes here: nan is an attack, not a number.
Result<TomlEntry> override_values(const Key& key, std::string_view text) {
  const bool is_toml = text.starts_with('[') || text.starts_with('"') || text.starts_with('\'');
  if (is_toml || !key.takes_text()) {
    Result<TomlEntry> entry = read_toml_value(text);
    if (entry || is_toml) return entry;
  }
  TomlEntry entry;
  entry.values.push_back({std::string(text), 1});
  return entry;
}

Result<Axis> override_axis(const Override& override) {
  const std::string where = fmt::format("--set {}={}", override.key, excerpt(override.value));
  Axis axis;
  axis.is_override = true;
  axis.key = find_key(override.key);
  if (axis.key == nullptr) {
    const std::size_t dot = override.key.find('.');
    const Error error =
        dot == std::string::npos
            ? (is_section(override.key)
                   ? invalid_argument(
                         fmt::format("{0} is a section; write --set {0}.KEY=VALUE", override.key))
                   : unknown_key("", override.key))
            : unknown_key(override.key.substr(0, dot), override.key.substr(dot + 1));
    return invalid_argument(fmt::format("{}: {}", where, error.message));
  }
  const Result<TomlEntry> entry = override_values(*axis.key, override.value);
  if (!entry) return invalid_argument(fmt::format("{}: {}", where, entry.error().message));
  if (entry->values.empty()) {
    return invalid_argument(fmt::format("{}: {}", where, empty_list(*axis.key)));
  }
  std::string hint = hint_for(*axis.key, *entry);
  if (!entry->is_list && has_comma(override.value)) {
    hint = fmt::format(
        "; a sweep is a list: --set '{}={}'", override.key,
        axis.key->takes_text() ? "[\"...\",\"...\"]" : fmt::format("[{}]", override.value));
  }
  for (const PlacedValue& value : entry->values) axis.values.push_back({value.value, where, hint});
  if (Result<void> good = check_values(axis); !good) return good.error();
  return axis;
}

}  // namespace

Error placed(const AxisValue& value, std::string_view message) {
  return invalid_argument(fmt::format("{}: {}{}", value.where, message, value.hint));
}

Result<std::vector<Axis>> read_axes(std::string_view toml, std::string_view origin,
                                    std::span<const Override> overrides) {
  const Result<TomlDocument> document = read_toml(toml, origin);
  if (!document) return document.error();
  if (Result<void> good = check_sections(*document, origin); !good) return good.error();
  std::vector<Axis> axes;
  for (const TomlEntry& entry : document->entries) {
    Result<Axis> axis = file_axis(entry, origin);
    if (!axis) return axis.error();
    axes.push_back(*std::move(axis));
  }
  for (const Override& override : overrides) {
    Result<Axis> axis = override_axis(override);
    if (!axis) return axis.error();
    const auto same = std::find_if(axes.begin(), axes.end(),
                                   [&](const Axis& other) { return other.key == axis->key; });
    if (same == axes.end()) {
      axes.push_back(*std::move(axis));
    } else {
      *same = *std::move(axis);
    }
  }
  return axes;
}

}  // namespace boba::sim
