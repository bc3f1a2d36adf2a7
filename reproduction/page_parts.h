// The parts of the report on the paper: each gives HTML.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/comparison.h"
#include "reproduction/goals.h"
#include "reproduction/results.h"
#include "simulator/store/store.h"

namespace boba::reproduction {

// Tables like the paper's, one for each data set and setting. quick: nothing published beside them.
std::string tables_html(const PaperResults& results, std::span<const Comparison> cells, bool quick);

// What a figure shows, and its numbers as a table below.
std::string lines_html(const PaperResults& results, std::span<const Comparison> cells);
std::string bars_html(const PaperResults& results, std::span<const Comparison> cells);
std::string matrix_html(const PaperResults& results, std::span<const Comparison> cells);

// Of measurements.
std::string pca_html(std::span<const sim::MeasurementRecord> records);
std::string time_html(std::span<const sim::MeasurementRecord> records);
std::string loss_ratio_html(std::span<const sim::MeasurementRecord> records);
std::string picture_html(std::span<const sim::MeasurementRecord> records);

std::string goals_html(std::span<const Goal> goals);

// How many seeds the cells of a table or figure have; cells without any do not count.
struct SeedRange {
  std::size_t fewest = 0;
  std::size_t most = 0;
  void add(const Comparison& cell);
};

// "5 seeds · 60,000 training and 10,000 test examples · 100 + 15 clients · boba 0.1.0, cuda", or
// "1 to 3 seeds" where some cells have fewer.
std::string facts_line(const PaperResults& results, const std::string& dataset,
                       const SeedRange& seeds);

// Head of a sortable table: titles of numbers have n = true.
struct Head {
  std::string title;
  bool n = false;
};
std::string table_head(std::span<const Head> heads);

// "92.5 ± 0.1"; "" for nothing.
std::string value_text(const std::optional<double>& mean, const std::optional<double>& sd);

// "MNIST", as people write it.
std::string dataset_title(const std::string& dataset);

}  // namespace boba::reproduction
