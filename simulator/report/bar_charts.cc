#include "simulator/report/bar_charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/report/scale.h"
#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::sim::report {
namespace {

constexpr double kWidth = 1120;
constexpr double kRow = 24;
constexpr double kBar = 13;
constexpr double kHead = 26;
constexpr double kBlockGap = 18;
constexpr std::size_t kColumnsOfBlock = 7;
constexpr std::size_t kLabelCharacters = 24;
constexpr double kCharacterWidth = 7.2;
constexpr double kWordRoom = 68;  // beside a bar

double label_width(const std::vector<std::string>& labels) {
  std::size_t longest = 4;
  for (const std::string& label : labels) {
    longest = std::max(longest, std::min(kLabelCharacters, label.size()));
  }
  return 12 + kCharacterWidth * static_cast<double>(longest);
}

void whisker(Svg& svg, double from, double to, double y) {
  if (!(to - from > 0.5)) return;
  svg.line(from, y, to, y, "whisker");
  svg.line(from, y - 3, from, y + 3, "whisker");
  svg.line(to, y - 3, to, y + 3, "whisker");
}

double largest(const BarTable& table, std::size_t first, std::size_t last) {
  double most = 0;
  for (const std::vector<BarCell>& row : table.cells) {
    for (std::size_t j = first; j < last; ++j) {
      if (row[j].value) most = std::max({most, *row[j].value, row[j].high});
    }
  }
  return most;
}

void draw_bar(Svg& svg, const BarTable& table, std::size_t i, std::size_t j, double x, double y,
              const LinearScale& scale) {
  const BarCell& cell = table.cells[i][j];
  const double middle = y + kRow / 2;
  if (!cell.value) {
    svg.text(x, middle + 4, "–", "note");
    return;
  }
  const double length = std::max(1.0, scale(std::max(0.0, *cell.value)));
  svg.open("g", {{"class", series_class(table.hues[i])}});
  svg.rect(x, middle - kBar / 2, length, kBar, {{"class", "bar"}, {"data-tip", cell.tip}});
  svg.close();
  double end = x + length;
  if (cell.high > cell.low) {
    whisker(svg, x + scale(std::max(0.0, cell.low)), x + scale(cell.high), middle);
    end = std::max(end, x + scale(cell.high));
  }
  svg.text(end + 5, middle + 4, cell.words, "value");
}

// Columns first to last of the table, with names, from the given height on.
void draw_block(Svg& svg, const BarTable& table, std::size_t first, std::size_t last, double left,
                double top) {
  const std::size_t shown = std::min(kColumnsOfBlock, table.columns.size());
  const double column = (kWidth - left) / static_cast<double>(std::max<std::size_t>(3, shown));
  const double bottom = top + kHead + kRow * static_cast<double>(table.rows.size());
  const double shared = largest(table, 0, table.columns.size());
  for (std::size_t j = first; j < last; ++j) {
    const double x = left + column * static_cast<double>(j - first);
    const auto fits = static_cast<std::size_t>((column - 8) / kCharacterWidth);
    const double most = table.scale == BarScale::kShared ? shared : largest(table, j, j + 1);
    const LinearScale scale(0, most > 0 ? most : 1, 0, column - kWordRoom - 10);
    svg.text(x, top + 14, clip(table.columns[j], std::max<std::size_t>(4, fits)), "heading");
    svg.line(x, top + kHead - 4, x, bottom, "axis");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      draw_bar(svg, table, i, j, x, top + kHead + kRow * static_cast<double>(i), scale);
    }
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    svg.text(left - 10, top + kHead + kRow * (static_cast<double>(i) + 0.5) + 4,
             clip(table.rows[i], kLabelCharacters), "label end");
  }
}

}  // namespace

std::string bar_table(const BarTable& table) {
  const std::size_t blocks = (table.columns.size() + kColumnsOfBlock - 1) / kColumnsOfBlock;
  const double block_height = kHead + kRow * static_cast<double>(table.rows.size()) + kBlockGap;
  Svg svg({kWidth, block_height * static_cast<double>(blocks)}, table.title, table.description,
          {{"class", "bars"}});
  const double left = label_width(table.rows);
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = block * kColumnsOfBlock;
    const std::size_t last = std::min(first + kColumnsOfBlock, table.columns.size());
    draw_block(svg, table, first, last, left, block_height * static_cast<double>(block));
  }
  return svg.finish();
}

std::string worst_bars(const std::vector<WorstBar>& bars, const std::string& description) {
  constexpr double kWorstRow = 30;
  constexpr double kWords = 260;
  std::vector<std::string> labels;
  labels.reserve(bars.size());
  for (const WorstBar& bar : bars) labels.push_back(bar.label);
  const double left = label_width(labels);
  const double bottom = 10 + kWorstRow * static_cast<double>(bars.size());
  const LinearScale x(0, 1, left, kWidth - kWords);
  Svg svg({kWidth, bottom + 24}, "Worst accuracy of each rule", description, {{"class", "bars"}});
  for (int tick = 0; tick <= 100; tick += 20) {
    svg.line(x(tick / 100.0), 4, x(tick / 100.0), bottom, "grid");
    svg.text(x(tick / 100.0), bottom + 16, fmt::format("{} %", tick), "tick middle");
  }
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const WorstBar& bar = bars[i];
    const double middle = 8 + kWorstRow * (static_cast<double>(i) + 0.5);
    svg.open("g", {{"class", series_class(bar.hue)}});
    svg.rect(left, middle - 9, x(bar.worst) - left, 18,
             {{"class", "bar"}, {"data-tip", bar.label + ": " + bar.words}});
    if (bar.unattacked) {
      svg.line(x(*bar.unattacked), middle - 12, x(*bar.unattacked), middle + 12, "mark");
    }
    svg.close();
    whisker(svg, x(bar.low), x(bar.high), middle);
    svg.text(left - 10, middle + 4, clip(bar.label, kLabelCharacters), "label end");
    const double end = std::max({x(bar.worst), x(bar.high), x(bar.unattacked.value_or(0))});
    svg.text(end + 12, middle + 4, clip(bar.words, 46), "value");
  }
  svg.line(left, 4, left, bottom, "axis");
  return svg.finish();
}

}  // namespace boba::sim::report
