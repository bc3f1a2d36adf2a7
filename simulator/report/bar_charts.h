// Bars: a row for each rule, and one or several columns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace boba::sim::report {

struct BarCell {
  std::optional<double> value;  // none: nothing was measured
  double low = 0;               // of a whisker, drawn where high is larger
  double high = 0;
  std::string words;  // beside the bar
  std::string tip;
};

enum class BarScale { kShared, kPerColumn };

struct BarTable {
  std::string title;
  std::string description;
  std::vector<std::string> rows;
  std::vector<std::size_t> hues;  // of the rows
  std::vector<std::string> columns;
  std::vector<std::vector<BarCell>> cells;
  BarScale scale = BarScale::kShared;
};

// Blocks of some columns each, one below the other, so that it is never wider than the page.
std::string bar_table(const BarTable& table);

struct WorstBar {
  std::string label;
  std::size_t hue = 0;
  double worst = 0;
  double low = 0;
  double high = 0;
  std::optional<double> unattacked;  // a mark on the same scale
  std::string words;
};

std::string worst_bars(const std::vector<WorstBar>& bars, const std::string& description);

}  // namespace boba::sim::report
