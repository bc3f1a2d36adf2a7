// What is wrong with an experiment, and which keys are to blame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/experiment/experiment.h"

namespace boba::sim {

struct Fault {
  std::vector<std::string> keys;  // the one to change first
  std::string message;
};

// Specs, ranges and combinations; reads no file, but looks whether model.script is there.
std::optional<Fault> find_fault(const Experiment& experiment);

}  // namespace boba::sim
