// Runs that differ by their seed only, on the same data, taken together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulator/report/statistics.h"
#include "simulator/store/records.h"

namespace boba::tools {

struct RunGroup {
  sim::RunHeader header;  // of its first run; the seed says nothing
  std::size_t runs = 0;
  sim::report::Statistics accuracy;
  sim::report::Statistics mrd;
  sim::report::Statistics seconds;
};

// The finished ones among the runs, in the order of each group's first run.
std::vector<RunGroup> group_by_seed(std::span<const sim::RunRecord> runs);

}  // namespace boba::tools
