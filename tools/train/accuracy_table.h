// Accuracy of rules under attacks, from finished runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "boba/store/records.h"

namespace boba::tools {

// Mean over the runs of a rule and an attack, in percent; with several seeds the standard deviation
// too.
struct AccuracyCell {
  double mean = 0;
  double deviation = 0;  // with n - 1; 0 for a single run
  std::size_t runs = 0;
};

struct AccuracyTable {
  std::vector<std::string> rules;                // in the order they first appear
  std::vector<std::string> attacks;              // likewise
  std::vector<std::vector<AccuracyCell>> cells;  // a row per rule; no runs: runs == 0

  // Smallest mean of a rule over the attacks that were run.
  double worst(std::size_t rule) const;
};

AccuracyTable accuracy_table(std::span<const RunRecord> runs);

// Aligned text with a column "worst" where there are several attacks.
std::string to_text(const AccuracyTable& table);

}  // namespace boba::tools
