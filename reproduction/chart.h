// A plot of lines over numbers or names, with bars for the spread over seeds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace boba::reproduction {

struct ChartPoint {
  double x = 0;  // of named places: 0, 1, 2, ...
  double y = 0;
  double low = 0;
  double high = 0;
  std::string tip;
};

struct ChartLine {
  std::string label;
  std::size_t hue = 0;
  std::vector<ChartPoint> points;
};

struct Chart {
  std::string title;
  std::string description;
  std::string x_label;
  std::string unit;                  // of the y axis: "%", "ms"; may be empty
  std::vector<std::string> x_names;  // of places; empty: x is a number
  std::vector<ChartLine> lines;
  bool log_y = false;   // numbers must be above 0; others are left out
  bool dots = true;     // a mark at each point
  double margin = 0.5;  // above and below the lines, at least
};

std::string chart(const Chart& chart);

// Names and colours of lines.
std::string chart_legend(const std::vector<ChartLine>& lines);

}  // namespace boba::reproduction
