#include "simulator/report/matrix_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::sim::report {
namespace {

constexpr std::size_t kRowCharacters = 36;
constexpr double kCharacterWidth = 7.2;  // of a wide font; others leave a little room
constexpr double kApart = 14;
constexpr std::size_t kSlantedCharacters = 12;

struct Layout {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

std::size_t longest(const std::vector<std::string>& words, std::size_t most) {
  std::size_t length = 0;
  for (const std::string& word : words) length = std::max(length, std::min(most, word.size()));
  return length;
}

double column_x(const Matrix& matrix, const Layout& layout, std::size_t column) {
  const double gap = matrix.apart && column >= *matrix.apart ? kApart : 0;
  return layout.left + gap + matrix.cell_width * static_cast<double>(column);
}

Layout layout_of(const Matrix& matrix) {
  Layout layout;
  layout.left = 14 + kCharacterWidth * static_cast<double>(longest(matrix.rows, kRowCharacters)) +
                (matrix.hues.empty() ? 0 : 22);
  if (!matrix.row_title.empty()) layout.left = std::max(layout.left, 52.0);
  const double slanted =
      16 + 4.6 * static_cast<double>(longest(matrix.columns, kSlantedCharacters));
  layout.top = (matrix.slanted ? slanted : 24) +
               (matrix.column_title.empty() && matrix.heading.empty() ? 0 : 18);
  layout.width = column_x(matrix, layout, matrix.columns.size()) + (matrix.slanted ? 44 : 2);
  layout.height = layout.top + matrix.cell_height * static_cast<double>(matrix.rows.size()) + 2;
  return layout;
}

void draw_column_names(Svg& svg, const Matrix& matrix, const Layout& layout) {
  if (!matrix.column_title.empty()) svg.text(layout.left, 12, matrix.column_title, "note");
  if (!matrix.heading.empty()) svg.text(0, 14, clip(matrix.heading, 44), "heading");
  for (std::size_t j = 0; j < matrix.columns.size(); ++j) {
    const double middle = column_x(matrix, layout, j) + matrix.cell_width / 2;
    if (matrix.slanted) {
      const std::string turn =
          fmt::format("rotate(-40 {} {})", number(middle), number(layout.top - 8));
      svg.text(middle, layout.top - 8, clip(matrix.columns[j], kSlantedCharacters), "label",
               {{"transform", turn}});
    } else {
      const auto fits = static_cast<std::size_t>(matrix.cell_width / kCharacterWidth);
      svg.text(middle, layout.top - 9, clip(matrix.columns[j], std::max<std::size_t>(3, fits)),
               "label middle");
    }
  }
}

void draw_row_name(Svg& svg, const Matrix& matrix, const Layout& layout, std::size_t i, double y) {
  const double middle = y + matrix.cell_height / 2;
  if (!matrix.hues.empty()) {
    svg.open("g", {{"class", series_class(matrix.hues[i])}});
    svg.line(0, middle, 18, middle, "mean");
    svg.close();
  }
  svg.text(layout.left - 10, middle + 4, clip(matrix.rows[i], kRowCharacters), "label end");
}

void draw_cell(Svg& svg, const Matrix& matrix, const MatrixCell& cell, double x, double y) {
  const double width = matrix.cell_width - 2;
  const double height = matrix.cell_height - 2;
  if (cell.shade < 0) {
    svg.rect(x, y, width, height, {{"class", "empty"}});
    if (!cell.words.empty()) {
      svg.text(x + width / 2, y + height / 2 + 4, cell.words, "note middle");
    }
    return;
  }
  if (cell.tip.empty()) {
    svg.rect(x, y, width, height, {{"class", fmt::format("h{}", cell.shade)}});
  } else {
    svg.rect(x, y, width, height,
             {{"class", fmt::format("h{}", cell.shade)}, {"data-tip", cell.tip}});
  }
  const std::string ink = fmt::format("k{} middle", cell.shade);
  const double lift = cell.second.empty() ? 0 : 6;
  if (!cell.words.empty()) {
    svg.text(x + width / 2, y + height / 2 + 4 - lift, cell.words, ink);
  }
  if (!cell.second.empty()) {
    svg.text(x + width / 2, y + height / 2 + 15 - lift, cell.second, ink + " small");
  }
}

}  // namespace

std::string matrix_chart(const Matrix& matrix) {
  const Layout layout = layout_of(matrix);
  Svg svg({layout.width, layout.height}, matrix.title, matrix.description, {{"class", "matrix"}});
  draw_column_names(svg, matrix, layout);
  if (!matrix.row_title.empty()) {
    svg.text(layout.left - 10, layout.top - 8, matrix.row_title, "note end");
  }
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    const double y = layout.top + matrix.cell_height * static_cast<double>(i);
    draw_row_name(svg, matrix, layout, i, y);
    for (std::size_t j = 0; j < matrix.columns.size(); ++j) {
      draw_cell(svg, matrix, matrix.cells[i][j], column_x(matrix, layout, j), y);
    }
  }
  return svg.finish();
}

std::string shade_key(const Domain& domain, const std::string& words) {
  constexpr double kWidth = 18;
  const std::string low = number(domain.from * 100) + " %";
  const std::string high = number(domain.to * 100) + " %";
  const double left = 52;
  Svg svg({left + kWidth * kShades + 260, 18}, "key of the shades",
          fmt::format("from {} to {}: {}", low, high, words), {{"class", "key"}});
  svg.text(left - 8, 13, low, "tick end");
  for (int shade = 0; shade < kShades; ++shade) {
    svg.rect(left + kWidth * shade, 3, kWidth, 12, {{"class", fmt::format("h{}", shade)}});
  }
  svg.text(left + kWidth * kShades + 8, 13, high + "  " + words, "tick");
  return svg.finish();
}

}  // namespace boba::sim::report
