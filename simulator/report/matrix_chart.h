// A grid of shaded cells with words in them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "simulator/report/scale.h"

namespace boba::sim::report {

struct MatrixCell {
  int shade = -1;           // -1: an empty cell
  std::string words = {};   // in the cell
  std::string second = {};  // below them, smaller
  std::string tip = {};     // shown by the script
};

struct Matrix {
  std::string title;
  std::string description;
  std::string heading;       // above it; may be empty
  std::string row_title;     // "truth"; may be empty
  std::string column_title;  // "prediction"; may be empty
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<std::size_t> hues;  // of the rows: a swatch before each name; empty: none
  std::vector<std::vector<MatrixCell>> cells;
  double cell_width = 60;
  double cell_height = 28;
  bool slanted = false;              // the names of the columns
  std::optional<std::size_t> apart;  // a column that stands apart
};

std::string matrix_chart(const Matrix& matrix);

// The key of a shading: its bins and the ends of its domain, in percent.
std::string shade_key(const Domain& domain, const std::string& words);

}  // namespace boba::sim::report
