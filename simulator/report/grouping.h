// Which runs may be compared: those whose experiments differ in rule, attack, number of Byzantine
// clients and seed only.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simulator/report/report_data.h"

namespace boba::sim::report {

using Config = std::vector<std::pair<std::string, std::string>>;  // key and value, in order

struct Group {
  Config config;  // what its runs share
  std::vector<const RunData*> runs;
};

// In the order of their first runs. A rule without server data has no word of them in its
// experiment, and a run without attackers none of when they come: such a run belongs to every group
// that is like it otherwise.
std::vector<Group> comparable_runs(std::span<const RunData> runs);

}  // namespace boba::sim::report
