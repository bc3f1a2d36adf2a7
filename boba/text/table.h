// Aligned text for terminals. Cells, titles and words pass through printable().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace boba {

enum class Align { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns);

  // REQUIRES: one cell per column.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Title line first; two spaces between columns, none at the end of a line.
  std::string text(std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Breaks the text at spaces into lines of at most width columns, each indented; newline at the end.
// hanging is the indent of the second line on.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent, std::size_t hanging);
inline std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  return wrap(text, width, indent, indent);
}

// Four significant digits, short: "0.008696", "-2.1e-05".
std::string short_number(double value);

}  // namespace boba
