// Runs of the paper's experiments as a database would have them, with accuracies of the test's
// choice.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "reproduction/expand.h"
#include "simulator/experiment/keys.h"
#include "simulator/store/store.h"
#include "tests/support/store_samples.h"

namespace boba::test {
using namespace sim;  // NOLINT

inline RunHeader header_of_run(const ResolvedExperiment& e, const std::string& data = "5eed") {
  RunHeader header = sample_header(e.rule, e.attack, e.seed);
  header.config = canonical_text(e);
  header.baseline = canonical_text(baseline_of(e));
  header.data = data;
  header.dataset = e.data.set;
  header.partition = e.data.partition;
  header.model = e.model.kind;
  header.honest = e.federation.honest;
  header.byzantine = e.attack == "none" ? 0 : e.federation.byzantine;
  header.rounds = e.training.rounds;
  return header;
}

// Adds a finished run of one evaluated round for each; recall gives the three classes' recalls.
inline void add_runs(
    Store& store, const std::vector<reproduction::PaperRun>& runs,
    const std::function<std::vector<double>(const reproduction::PaperRun&)>& recall) {
  for (const reproduction::PaperRun& run : runs) {
    add_finished_run(store, header_of_run(run.experiment), recall(run));
  }
}

inline std::vector<reproduction::PaperRun> runs_of(const std::string& name,
                                                   const reproduction::PaperOptions& options = {}) {
  const auto file = reproduction::load_paper(name);
  if (!file) throw std::runtime_error(file.error().message);
  auto runs = reproduction::expand(*file, options);
  if (!runs) throw std::runtime_error(runs.error().message);
  return std::move(runs->runs);
}

}  // namespace boba::test
