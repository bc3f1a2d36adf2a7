#include "boba/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "boba/text/printable.h"

namespace boba {

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.title = printable(column.title);
}

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    std::size_t width = columns_[j].title.size();
    for (const auto& row : rows_) width = std::max(width, row[j].size());
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](auto cell) {
    std::string line(indent, ' ');
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (j > 0) line += "  ";
      line += columns_[j].align == Align::kLeft ? fmt::format("{:<{}}", cell(j), widths[j])
                                                : fmt::format("{:>{}}", cell(j), widths[j]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  add_line([&](std::size_t j) -> const std::string& { return columns_[j].title; });
  for (const auto& row : rows_) {
    add_line([&](std::size_t j) -> const std::string& { return row[j]; });
  }
  return text;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent,
                 std::size_t hanging) {
  std::string result;
  std::string line(indent, ' ');
  bool fresh = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string shown = printable(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (shown.empty()) continue;
    if (!fresh && line.size() + 1 + shown.size() > width) {
      result += line + '\n';
      line.assign(hanging, ' ');
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += shown;
    fresh = false;
  }
  return result + line + '\n';
}

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

}  // namespace boba
