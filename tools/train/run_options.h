// What `boba run` and `boba demo` share: running a grid into a database with progress, until it is
// done or Ctrl-C.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "boba/dist/communicator.h"
#include "simulator/experiment/grid.h"
#include "simulator/store/store.h"
#include "tools/command.h"

namespace boba::tools {

struct RunOptions {
  std::vector<std::string> settings;  // --set
  std::string db = "boba.db";
  std::string data;
  int jobs = 1;
  int threads = 0;
  std::string device = "cpu";
  bool resume = false;
  bool again = false;
  bool quiet = false;
};

// --set, --data, --jobs, --threads, --device, --quiet.
void add_run_options(CLI::App& command, RunOptions& options);

Result<std::vector<sim::Override>> overrides_of(const std::vector<std::string>& settings);

struct GridOutcome {
  std::vector<sim::RunRecord> runs;     // of the grid, in its order
  std::vector<std::string> complaints;  // runs that failed or were left alone
  bool stopped = false;                 // by Ctrl-C
};

// Ctrl-C stops every run after its round; a second one ends the process at once. With ranks, the
// runs of the grid are spread over them, or the clients where there is one run; the outcome is that
// of all, on all. With one run and several ranks this is rank 0, and the others call
// follow_with_progress.
Result<GridOutcome> run_with_progress(const sim::Grid& grid, sim::Store& store,
                                      const RunOptions& options, const Communicator& ranks);

// Works along with rank 0 at a single run, without a database. No runs are in the outcome.
Result<GridOutcome> follow_with_progress(const sim::Grid& grid, const RunOptions& options,
                                         const Communicator& ranks);

}  // namespace boba::tools
