#include "reproduction/csv_text.h"

#include <fmt/format.h>

#include <utility>

#include "boba/text/names.h"
#include "simulator/experiment/value.h"

namespace boba::reproduction {
namespace {

struct Line {
  std::size_t number = 0;
  std::vector<std::string> cells;
};

// Quoted cells may hold line ends; empty lines are passed over.
std::vector<Line> split(std::string_view text) {
  std::vector<Line> lines;
  Line line{.number = 1, .cells = {""}};
  std::size_t number = 1;
  bool quoted = false;
  const auto end_line = [&] {
    if (line.cells.size() > 1 || !line.cells[0].empty()) lines.push_back(std::move(line));
    line = {.number = number, .cells = {""}};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++number;
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      line.cells.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      line.cells.emplace_back();
    } else if (!quoted && c == '\n') {
      end_line();
    } else if (quoted || c != '\r') {
      line.cells.back() += c;
    }
  }
  end_line();
  return lines;
}

}  // namespace

std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

Result<std::vector<std::vector<std::string>>> parse_csv(std::string_view text,
                                                        std::string_view origin,
                                                        std::span<const std::string_view> columns) {
  std::vector<Line> lines = split(text);
  const std::vector<std::string> wanted(columns.begin(), columns.end());
  if (lines.empty() || lines[0].cells != wanted) {
    return invalid_argument(fmt::format("{}:1: the columns must be: {}", origin, join(columns)));
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].cells.size() != columns.size()) {
      return invalid_argument(fmt::format("{}:{}: {} cells; there are {} columns", origin,
                                          lines[i].number, lines[i].cells.size(), columns.size()));
    }
    rows.push_back(std::move(lines[i].cells));
  }
  return rows;
}

}  // namespace boba::reproduction
