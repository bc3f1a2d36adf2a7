// Experiment files, overrides and canonical texts: nothing may crash on any of them, and what was
// accepted is good and comes back from its text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "simulator/experiment/faults.h"
#include "simulator/experiment/grid.h"

namespace {

void check_text(const boba::sim::ResolvedExperiment& experiment) {
  const std::string text = boba::sim::canonical_text(experiment);
  const auto again = boba::sim::experiment_from_text(text);
  require(again.ok(), "a canonical text is read");
  const auto resolved = boba::sim::resolve(*again);
  require(resolved.ok(), "a canonical text is resolved");
  require(boba::sim::canonical_text(*resolved) == text, "an experiment comes back from its text");
}

void check_experiment(const boba::sim::ResolvedExperiment& experiment) {
  require(boba::sim::check(experiment).ok(), "a run of a grid passes the check");
  check_text(experiment);
}

void check_grid(const boba::Result<boba::sim::Grid>& grid) {
  if (!grid) {
    require(!grid.error().message.empty(), "an error has a message");
    return;
  }
  require(!grid->experiments.empty(), "a grid has a run");
  check_experiment(grid->experiments.front());
  check_experiment(grid->experiments.back());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_grid(boba::sim::parse_grid(text, "file", "name"));
  if (const auto override = boba::sim::parse_override(text)) {
    check_grid(boba::sim::parse_grid("rule = 'average'", "file", "name", {&*override, 1}));
  }
  if (const auto read = boba::sim::experiment_from_text(text)) {
    if (const auto resolved = boba::sim::resolve(*read)) check_text(*resolved);
  }
  return 0;
}
