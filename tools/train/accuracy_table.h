// Accuracy of rules under attacks, from finished runs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/report/statistics.h"
#include "simulator/store/records.h"

namespace boba::tools {

// A rule, and where a grid sweeps over more than rules, attacks and seeds, the values of these
// keys.
struct AccuracyRow {
  std::string rule;
  std::vector<std::string> values;  // "-" where the rule has no use for the key
  // Of the finished runs, in percent, one per attack.
  std::vector<sim::report::Statistics> cells;
};

struct AccuracyTable {
  std::vector<std::string> keys;     // that vary, beside rule, attack and seed
  std::vector<std::string> attacks;  // in the order they first appear
  std::vector<AccuracyRow> rows;     // likewise

  // Smallest mean over the attacks, "none" excepted; nothing where one of them is missing.
  std::optional<double> worst(std::size_t row) const;
};

AccuracyTable accuracy_table(std::span<const sim::RunRecord> runs);

// Aligned text with a column "worst" where there are several attacks.
std::string to_text(const AccuracyTable& table);

}  // namespace boba::tools
