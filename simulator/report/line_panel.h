// One panel of lines with bands: shares of 0 to 1, shown in percent, over rounds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simulator/report/scale.h"
#include "simulator/report/statistics.h"

namespace boba::sim::report {

struct Line {
  std::string label;
  std::size_t hue = 0;
  std::vector<BandPoint> points;
};

struct LinePanel {
  std::string id;  // of its clip path: no other on the page has it
  std::string title;
  std::string description;
  std::vector<Line> lines;
  Domain x;
  Domain y;                 // what lies beyond it is drawn at its edge
  bool end_labels = false;  // the lines' names at their right ends
};

std::string line_panel(const LinePanel& panel);

}  // namespace boba::sim::report
