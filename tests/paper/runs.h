// Runs of the paper's experiments as a database would have them, with accuracies of the test's
// choice.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "boba/experiment/keys.h"
#include "boba/paper/expand.h"
#include "boba/store/store.h"
#include "tests/support/store_samples.h"

namespace boba::test {

inline RunHeader header_of_run(const Experiment& e, const std::string& data = "5eed") {
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
inline void add_runs(Store& store, const std::vector<paper::PaperRun>& runs,
                     const std::function<std::vector<double>(const paper::PaperRun&)>& recall) {
  for (const paper::PaperRun& run : runs) {
    add_finished_run(store, header_of_run(run.experiment), recall(run));
  }
}

inline std::vector<paper::PaperRun> runs_of(const std::string& name,
                                            const paper::PaperOptions& options = {}) {
  const auto file = paper::load_paper(name);
  if (!file) throw std::runtime_error(file.error().message);
  auto runs = paper::expand(*file, options);
  if (!runs) throw std::runtime_error(runs.error().message);
  return std::move(runs->runs);
}

}  // namespace boba::test
