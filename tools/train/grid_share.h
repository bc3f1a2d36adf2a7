// What one process did of a grid, and how the shares of several make the outcome of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "boba/dist/communicator.h"

namespace boba::tools {

struct GridShare {
  std::map<std::size_t, std::int64_t> ids;  // of the runs that ended here, by place in the grid
  std::vector<std::string> complaints;
  std::size_t complete = 0;  // runs that are finished, now or before
  bool stopped = false;      // asked to stop
};

// All ranks together.
GridShare joined(const Communicator& ranks, const GridShare& mine);

}  // namespace boba::tools
