// Accuracy of rules under attacks, from finished runs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/store/records.h"

namespace boba::tools {

// Over the seeds of one experiment, in percent.
struct AccuracyCell {
  double mean = 0;
  double deviation = 0;  // with n - 1; 0 for a single run
  std::size_t runs = 0;
};

// A rule, and where a grid sweeps over more than rules, attacks and seeds, the values of these
// keys.
struct AccuracyRow {
  std::string rule;
  std::vector<std::string> values;  // "-" where the rule has no use for the key
  std::vector<AccuracyCell> cells;  // one per attack; no runs: none finished
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
