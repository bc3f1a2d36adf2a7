#include "simulator/train/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <future>
#include <map>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "boba/threads/team.h"
#include "simulator/train/plan.h"
#include "simulator/train/spread.h"

namespace boba::sim {
namespace {

struct Planned {
  const ResolvedExperiment* experiment = nullptr;
  std::shared_ptr<const Dataset> dataset;
  std::shared_ptr<const FederationPlan> plan;  // none: the run makes its own
  std::int64_t run = 0;
};

// Plans of the runs that wait. Runs that differ in rule or attack share one, so a grid has few; of
// one that has more, only the first are kept, and the other runs make theirs again.
class SharedPlans {
 public:
  Result<std::shared_ptr<const FederationPlan>> get(const ResolvedExperiment& experiment,
                                                    const Dataset& dataset) {
    std::string key = plan_key(experiment);
    if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
    auto made = make_plan(experiment, dataset);
    if (!made) return made.error();
    if (plans_.size() >= kMost) return std::shared_ptr<const FederationPlan>();
    auto plan = std::make_shared<const FederationPlan>(*std::move(made));
    plans_.emplace(std::move(key), plan);
    return plan;
  }

 private:
  static constexpr std::size_t kMost = 64;  // of MNIST 18 MB
  std::map<std::string, std::shared_ptr<const FederationPlan>> plans_;
};

// Writes a round while the next one is trained. What a killed process loses is the round it was in,
// and the one before if that was not written yet.
class RoundWriter {
 public:
  RoundWriter(Store& store, std::int64_t run) : store_(store), run_(run) {}

  // Fails as the write before it did, if it did.
  Result<void> write(RoundEntry entry) {
    const Result<void> before = wait();
    if (!before) return before;
    pending_ = std::async(std::launch::async, [this, written = std::move(entry)] {
      return store_.write_round(run_, written);
    });
    return {};
  }

  // Until all is written.
  Result<void> wait() { return pending_.valid() ? pending_.get() : Result<void>(); }

 private:
  Store& store_;
  std::int64_t run_;
  std::future<Result<void>> pending_;  // its destructor waits
};

// Says when a checkpoint is due. On the processor after every round; a GPU does hundreds of rounds
// a second, and what a killed process loses there is a tenth of one.
class CheckpointClock {
 public:
  explicit CheckpointClock(bool gpu) : apart_(gpu ? 100 : 0) {}

  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + apart_;
    return true;
  }

 private:
  std::chrono::milliseconds apart_;
  std::chrono::steady_clock::time_point next_;
};

class GridRunner {
 public:
  GridRunner(const Grid& grid, DatasetCache& data, Store& store, const RunnerOptions& options,
             RunObserver& observer)
      : grid_(grid), data_(data), store_(store), options_(options), observer_(observer) {}

  Result<void> run() {
    const Result<std::string> device = device_name(options_.device);
    if (!device) return device.error();
    auto all = plan_all(*device);
    if (!all) return all.error();
    if (all->empty()) return {};
    std::vector<Planned>& planned = *all;
    const int threads = options_.threads > 0 ? options_.threads : usable_processors();
    // On a GPU one at a time: recordings of several threads would share libraries' memory.
    const std::size_t most =
        options_.device == "cpu" ? std::max<std::size_t>(1, planned.size()) : 1;
    const int jobs = std::clamp(options_.jobs, 1, static_cast<int>(most));
    std::atomic<std::size_t> next{0};
    const auto take = [&] { return options_.next ? options_.next() : next++; };
    run_team(jobs, [&](int /*member*/, int size) {
      for (std::size_t i = take(); i < planned.size(); i = take()) {
        if (stopping()) return;
        // Moved, so that a plan goes with the last run that has it.
        run_one(i, std::move(planned[i]), std::max(1, threads / size));
      }
    });
    if (broken_) return *broken_;
    return {};
  }

 private:
  // All runs are noted first: the database shows the whole grid from the start. None if it was
  // asked to stop.
  Result<std::vector<Planned>> plan_all(const std::string& device) {
    std::vector<Planned> planned;
    SharedPlans plans;
    for (const ResolvedExperiment& experiment : grid_.experiments) {
      if (stopping()) return std::vector<Planned>();
      auto dataset = data_.get(experiment.data);
      if (!dataset) return dataset.error();
      // What only the data can tell: too few examples for a client, or of a class for the server.
      auto plan = plans.get(experiment, **dataset);
      if (!plan) return plan.error();
      const auto header = header_of(experiment, **dataset, grid_.name, device);
      if (!header) return header.error();
      const auto id = store_.add_run(*header);
      if (!id) return id.error();
      planned.push_back({&experiment, *std::move(dataset), *std::move(plan), *id});
    }
    return planned;
  }

  bool stopping() const {
    return (options_.stop != nullptr && options_.stop->load()) || broken_flag_.load();
  }

  // The database itself failed: nothing more can be kept, so all runs end.
  void break_off(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!broken_) broken_ = error;
    broken_flag_ = true;
  }

  void run_one(std::size_t index, Planned planned, int threads) {
    if (const std::string other = begun_elsewhere(planned.run); !other.empty()) {
      return observer_.ended(index, planned.run, RunEnd::kFailed, other);
    }
    const auto claim = store_.claim(planned.run, options_.mode);
    if (!claim) return break_off(claim.error());
    switch (*claim) {
      case ClaimOutcome::kClaimed:
        break;
      case ClaimOutcome::kBusy:
        return observer_.ended(index, planned.run, RunEnd::kBusy, holder_of(planned.run));
      case ClaimOutcome::kFinished:
        return observer_.ended(index, planned.run, RunEnd::kDone, "");
      case ClaimOutcome::kUnfinished:
        return observer_.ended(index, planned.run, RunEnd::kUnfinished, "");
    }
    const Result<RunEnd> end = run_guarded(index, planned, threads);
    if (end) return observer_.ended(index, planned.run, *end, "");
    const Result<void> noted = store_.fail(planned.run, end.error().message);
    if (!noted) break_off(noted.error());
    observer_.ended(index, planned.run, RunEnd::kFailed, end.error().message);
  }

  // The numbers of a GPU differ from the processor's by rounding, so a run has one kind of them.
  // Why a run cannot be resumed here; "" if it can.
  std::string begun_elsewhere(std::int64_t run) const {
    if (options_.mode != ClaimMode::kResume) return {};
    const auto record = store_.run(run);
    if (!record || record->rounds_done == 0 || record->status == RunStatus::kFinished) return {};
    const bool gpu = options_.device != "cpu";
    if (record->header.gpu.empty() != gpu) return {};
    return fmt::format("{} rounds were done on {}; resume it there, or begin anew with --again",
                       record->rounds_done, gpu ? "the processor (--device cpu)" : "a GPU");
  }

  // Who has the run, as people would say it; "" if that is not known.
  std::string holder_of(std::int64_t run) const {
    const auto record = store_.run(run);
    return record ? record->owner : std::string();
  }

  // A run that runs out of memory fails alone, unless others share it: they may be in the middle of
  // a message that will never come, and only the end of the job ends their wait.
  Result<RunEnd> run_guarded(std::size_t index, Planned& planned, int threads) {
    try {
      return run_claimed(index, planned, threads);
    } catch (const std::bad_alloc&) {
      if (options_.ranks != nullptr) throw;
      return Error{ErrorCode::kInternal, "out of memory"};
    } catch (const std::exception& error) {
      if (options_.ranks != nullptr) throw;
      return Error{ErrorCode::kInternal, error.what()};
    }
  }

  // A database that cannot be written ends all runs; a run that another process took ends alone.
  Result<void> kept(Result<void> written) {
    if (!written && written.error().code == ErrorCode::kIo) break_off(written.error());
    return written;
  }

  Result<RunEnd> run_claimed(std::size_t index, Planned& planned, int threads) {
    const Place place{.device = options_.device, .threads = threads};
    auto made = options_.ranks == nullptr
                    ? make_simulation(*planned.experiment, *planned.dataset, place, grid_.name,
                                      std::move(planned.plan))
                    : make_leading_simulation(*planned.experiment, *planned.dataset, place,
                                              grid_.name, *options_.ranks, std::move(planned.plan));
    if (!made) return made.error();
    Simulation& simulation = **made;
    const Result<void> ready = prepare(planned.run, simulation);
    if (!ready) return ready.error();
    observer_.started(index, planned.run, simulation);
    RoundWriter writer(store_, planned.run);
    CheckpointClock clock(options_.device != "cpu");
    while (!simulation.done()) {
      if (stopping()) {
        const Result<void> last = kept(writer.wait());
        if (!last) return last.error();
        // The checkpoint may be some rounds old; --resume does those again, to the same numbers.
        const Result<void> stopped = kept(store_.stop(planned.run));
        if (!stopped) return stopped.error();
        return RunEnd::kStopped;
      }
      const bool last_round = simulation.rounds_done() + 1 >= simulation.header().rounds;
      auto entry = simulation.step(clock.due() || last_round);
      if (!entry) return entry.error();
      observer_.round(index, *entry);
      const Result<void> written = kept(writer.write(*std::move(entry)));
      if (!written) return written.error();
    }
    const Result<void> last = kept(writer.wait());
    if (!last) return last.error();
    const Result<void> finished = finish(planned.run, simulation);
    if (!finished) return finished.error();
    return RunEnd::kFinished;
  }

  // Writes the clients of a new run, restores the state of a resumed one.
  Result<void> prepare(std::int64_t run, Simulation& simulation) {
    const auto checkpoint = store_.checkpoint(run);
    if (!checkpoint) return checkpoint.error();
    if (checkpoint->has_value()) return simulation.restore(**checkpoint);
    return kept(store_.write_clients(run, simulation.clients()));
  }

  Result<void> finish(std::int64_t run, const Simulation& simulation) {
    const std::filesystem::path folder = store_.models_folder();
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) {
      return Error{ErrorCode::kIo, fmt::format("cannot make the folder {}: {}", folder.string(),
                                               failure.message())};
    }
    const std::filesystem::path file = folder / fmt::format("run-{}.safetensors", run);
    const Result<void> written = write_safetensors(file, simulation.model());
    if (!written) return written.error();
    return kept(store_.finish(run, (folder.filename() / file.filename()).string()));
  }

  const Grid& grid_;
  DatasetCache& data_;
  Store& store_;
  const RunnerOptions& options_;
  RunObserver& observer_;
  std::mutex mutex_;
  std::optional<Error> broken_;
  std::atomic<bool> broken_flag_{false};
};

}  // namespace

Result<std::shared_ptr<const Dataset>> DatasetCache::get(const DataSection& data) {
  const std::lock_guard lock(mutex_);
  auto& slot = sets_[{data.set, data.length}];
  if (!slot) {
    auto loaded = load_dataset(data.set, sources_, {.length = data.length});
    if (!loaded) return loaded.error();
    slot = std::make_shared<const Dataset>(std::move(*loaded));
  }
  return slot;
}

Result<void> run_grid(const Grid& grid, DatasetCache& data, Store& store,
                      const RunnerOptions& options, RunObserver& observer) {
  return GridRunner(grid, data, store, options, observer).run();
}

}  // namespace boba::sim
