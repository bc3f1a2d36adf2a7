// Experiment files, overrides and canonical texts: nothing may crash on any of them, and what was
// accepted is good and comes back from its text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "simulator/experiment/experiment.h"
#include "simulator/experiment/grid.h"

namespace {

void check_experiment(const boba::sim::Experiment& experiment) {
  require(boba::sim::check(experiment).ok(), "a run of a grid passes the check");
  const std::string text = boba::sim::canonical_text(experiment);
  const auto again = boba::sim::experiment_from_text(text);
  require(again.ok(), "a canonical text is read");
  require(boba::sim::canonical_text(*again) == text, "an experiment comes back from its text");
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
    const std::string again = boba::sim::canonical_text(*read);
    const auto back = boba::sim::experiment_from_text(again);
    require(back.ok() && boba::sim::canonical_text(*back) == again, "a text means one experiment");
  }
  return 0;
}
