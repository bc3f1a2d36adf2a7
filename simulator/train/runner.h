// Runner: the runs of a grid, several at once, with their results in a database.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "boba/core/result.h"
#include "boba/dist/communicator.h"
#include "simulator/data/catalogue.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/grid.h"
#include "simulator/store/store.h"
#include "simulator/train/simulation.h"

namespace boba::sim {

// Data sets by name, each read once. Thread-safe.
class DatasetCache {
 public:
  explicit DatasetCache(DataSources sources) : sources_(std::move(sources)) {}
  Result<std::shared_ptr<const Dataset>> get(const DataSection& data);

 private:
  DataSources sources_;
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::shared_ptr<const Dataset>> sets_;
};

enum class RunEnd : std::uint8_t {
  kFinished,
  kStopped,     // asked to; --resume goes on
  kFailed,      // the error says why
  kDone,        // was finished before
  kBusy,        // another process has it
  kUnfinished,  // was begun before, and neither resuming nor restarting was asked for
};

// Hears what happens. Calls for one run come in order; those for different runs come from several
// threads at once.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // rounds_done is more than 0 where the run was resumed.
  virtual void started(std::size_t index, std::int64_t run, const Simulation& simulation) = 0;
  virtual void round(std::size_t index, const RoundEntry& entry) = 0;
  // message: why it failed, or who has it.
  virtual void ended(std::size_t index, std::int64_t run, RunEnd end,
                     const std::string& message) = 0;
};

struct RunnerOptions {
  int jobs = 1;                // runs at once; on a GPU one
  int threads = 0;             // shared by them; 0: all processors this process may use
  std::string device = "cpu";  // where they compute; see simulation.h
  ClaimMode mode = ClaimMode::kNew;
  const std::atomic<bool>* stop = nullptr;  // when true, runs stop after their round
  // The next run that is this process's to do; empty: all of them, in order.
  std::function<std::size_t()> next = {};
  // Processes that share the training of each run; this one is rank 0, the others follow.
  const Communicator* ranks = nullptr;
};

// Runs what is not finished. Fails only where the database or a data set cannot be used at all; a
// run that fails is told to the observer, and the others go on.
Result<void> run_grid(const Grid& grid, DatasetCache& data, Store& store,
                      const RunnerOptions& options, RunObserver& observer);

}  // namespace boba::sim
