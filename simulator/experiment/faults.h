// What several keys of an experiment do wrong together.
#pragma once

#include <optional>
#include <variant>

#include "boba/core/result.h"
#include "simulator/experiment/resolved.h"

namespace boba::sim {

// The faults of combinations; reads no file, but looks whether model.script is there.
// REQUIRES: resolved is what try_resolve makes of written, whose texts the messages quote.
std::optional<Fault> find_fault(const Experiment& written, const ResolvedExperiment& resolved);

// An experiment that can be run, or what is wrong with it.
std::variant<ResolvedExperiment, Fault> resolve_and_check(const Experiment& written);
Result<void> check(const Experiment& written);

}  // namespace boba::sim
