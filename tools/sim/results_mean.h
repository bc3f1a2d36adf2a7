// Runs that differ by their seed only, on the same data, taken together.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/store/records.h"

namespace boba::tools {

struct Average {
  std::optional<double> mean;       // none of nothing
  std::optional<double> deviation;  // with n - 1; none for a single number
};

Average average_of(std::span<const double> values);

struct RunGroup {
  sim::RunHeader header;  // of its first run; the seed says nothing
  std::size_t runs = 0;
  Average accuracy;
  Average mrd;
  Average seconds;
};

// The finished ones among the runs, in the order of each group's first run.
std::vector<RunGroup> group_by_seed(std::span<const sim::RunRecord> runs);

}  // namespace boba::tools
