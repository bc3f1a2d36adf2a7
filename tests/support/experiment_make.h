// Experiments for tests: valid ones at random, and the errors of files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "simulator/experiment/resolved.h"

namespace boba::test {
using namespace sim;  // NOLINT

// One that passes check(), with every key away from its default now and then; the same number
// gives the same experiment.
Experiment random_experiment(std::uint64_t number);

// What resolve() makes of it; throws if there is a fault.
ResolvedExperiment resolved(const Experiment& experiment);
std::string canonical_text(const Experiment& experiment);

// "\n" between the lines, so that a test can count them.
std::string lines(std::initializer_list<std::string_view> each);

}  // namespace boba::test
