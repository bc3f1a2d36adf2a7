#include "simulator/experiment/toml_reader.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "boba/text/printable.h"

namespace boba::sim {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;
// Each dot may open a table in a table, and the library destroys them recursively. This many fit on
// any stack.
constexpr std::ptrdiff_t kMostDots = 4000;

std::size_t line_of(const toml::source_region& region) { return region.begin.line; }

Value value_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return node.as_string()->get();
    case toml::node_type::integer:
      return node.as_integer()->get();
    case toml::node_type::floating_point:
      return node.as_floating_point()->get();
    case toml::node_type::boolean:
      return node.as_boolean()->get();
    case toml::node_type::table:
      return OtherValue{"a table"};
    case toml::node_type::array:
      return OtherValue{"a list in a list"};
    default:
      return OtherValue{"a date or a time"};
  }
}

TomlEntry entry_of(std::string_view section, const toml::key& key, const toml::node& node) {
  TomlEntry entry;
  entry.section = section;
  entry.name = key.str();
  entry.line = line_of(key.source());
  entry.column = key.source().begin.column;
  entry.is_list = node.is_array();
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& element : *list) {
      entry.values.push_back({value_of(element), line_of(element.source())});
    }
  } else {
    entry.values.push_back({value_of(node), line_of(node.source())});
  }
  return entry;
}

// The table that the text is, or an error; exceptions of the library end here.
Result<toml::table> parse(std::string_view text, std::string_view origin) {
  if (text.size() > kLargestFile) {
    return invalid_argument(fmt::format("{}: {} bytes; an experiment file has at most {}", origin,
                                        text.size(), kLargestFile));
  }
  if (const auto dots = std::count(text.begin(), text.end(), '.'); dots > kMostDots) {
    return invalid_argument(
        fmt::format("{}: {} dots; an experiment file has at most {}", origin, dots, kMostDots));
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return invalid_argument(
        fmt::format("{}:{}: {}", origin, line_of(error.source()), excerpt(error.description())));
  } catch (const std::exception& error) {
    return Error{ErrorCode::kInternal, fmt::format("{}: {}", origin, error.what())};
  }
}

}  // namespace

Result<TomlDocument> read_toml(std::string_view text, std::string_view origin) {
  const Result<toml::table> root = parse(text, origin);
  if (!root) return root.error();
  TomlDocument document;
  for (auto&& [key, node] : *root) {
    const toml::table* section = node.as_table();
    if (section == nullptr) {
      document.entries.push_back(entry_of("", key, node));
      continue;
    }
    document.sections.push_back({std::string(key.str()), line_of(key.source())});
    for (auto&& [inner, value] : *section) {
      document.entries.push_back(entry_of(key.str(), inner, value));
    }
  }
  // toml++ sorts keys by name; sweeps need the order of the file.
  std::sort(document.entries.begin(), document.entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  std::sort(document.sections.begin(), document.sections.end(),
            [](const TomlSection& a, const TomlSection& b) { return a.line < b.line; });
  return document;
}

Result<TomlEntry> read_toml_value(std::string_view text) {
  // One line, or it could hold more keys.
  if (text.find_first_of("\r\n") != text.npos) {
    return invalid_argument("write the value on one line");
  }
  const Result<toml::table> root = parse(fmt::format("value = {}", text), "value");
  if (!root) {
    const std::string& message = root.error().message;
    return invalid_argument(message.substr(std::min(message.size(), message.find(": ") + 2)));
  }
  const auto item = root->begin();
  return entry_of("", item->first, item->second);
}

}  // namespace boba::sim
