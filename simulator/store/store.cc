#include "simulator/store/store.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "simulator/store/claim.h"
#include "simulator/store/import.h"
#include "simulator/store/open.h"
#include "simulator/store/read.h"
#include "simulator/store/write.h"

namespace boba::sim {
namespace {

// "cannot write round 3 of run 7: boba.db: database or disk is full".
template <class T>
Result<T> explain(Result<T> result, const std::string& operation) {
  if (result) return result;
  return Error{result.error().code,
               fmt::format("cannot {}: {}", operation, result.error().message)};
}

}  // namespace

struct Store::State {
  State(std::filesystem::path path, store::Database open)
      : file(std::move(path)), database(std::move(open)), owner(store::this_process()) {}

  std::filesystem::path file;
  std::mutex mutex;  // of everything below
  store::Database database;
  std::string owner;
  std::map<std::int64_t, store::ComputedBy> added;  // runs
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& file, OpenMode mode) {
  Result<store::Database> database = store::open_database(file, mode);
  if (database) {
    if (Result<void> added = store::add_functions(*database); !added) database = added.error();
  }
  if (!database) return explain(std::move(database), "open the results").error();
  return Store(std::make_unique<State>(file, std::move(*database)));
}

const std::filesystem::path& Store::file() const { return state_->file; }

Result<std::int64_t> Store::add_run(const RunHeader& header) {
  const std::lock_guard lock(state_->mutex);
  Result<std::int64_t> run =
      explain(store::add_run(state_->database, header), "add run " + header.name);
  if (run) state_->added[*run] = {header.version, header.gpu};
  return run;
}

Result<ClaimOutcome> Store::claim(std::int64_t run, ClaimMode mode) {
  const std::lock_guard lock(state_->mutex);
  std::optional<store::ComputedBy> by;
  if (const auto added = state_->added.find(run); added != state_->added.end()) by = added->second;
  return explain(store::claim(state_->database, run, mode, state_->owner, by),
                 fmt::format("claim run {}", run));
}

Result<void> Store::write_clients(std::int64_t run, std::span<const ClientRecord> clients) {
  const std::lock_guard lock(state_->mutex);
  return explain(store::write_clients(state_->database, run, state_->owner, clients),
                 fmt::format("write the clients of run {}", run));
}

Result<void> Store::write_round(std::int64_t run, const RoundEntry& entry) {
  const std::lock_guard lock(state_->mutex);
  return explain(store::write_round(state_->database, run, state_->owner, entry),
                 fmt::format("write round {} of run {}", entry.round.round, run));
}

Result<void> Store::finish(std::int64_t run, const std::string& model_file) {
  const std::lock_guard lock(state_->mutex);
  const store::Ending ending{.status = RunStatus::kFinished, .model_file = model_file};
  return explain(store::end_run(state_->database, run, state_->owner, ending),
                 fmt::format("finish run {}", run));
}

Result<void> Store::stop(std::int64_t run) {
  const std::lock_guard lock(state_->mutex);
  return explain(
      store::end_run(state_->database, run, state_->owner, {.status = RunStatus::kStopped}),
      fmt::format("stop run {}", run));
}

Result<void> Store::fail(std::int64_t run, const std::string& why) {
  const std::lock_guard lock(state_->mutex);
  const store::Ending ending{.status = RunStatus::kFailed, .error = why};
  return explain(store::end_run(state_->database, run, state_->owner, ending),
                 fmt::format("note that run {} failed", run));
}

Result<std::optional<std::string>> Store::checkpoint(std::int64_t run) const {
  const std::lock_guard lock(state_->mutex);
  return explain(store::read_checkpoint(state_->database, run),
                 fmt::format("read the checkpoint of run {}", run));
}

Result<std::vector<RunRecord>> Store::runs(std::string_view where) const {
  const std::lock_guard lock(state_->mutex);
  return explain(store::read_runs(state_->database, where), "list the runs");
}

Result<RunRecord> Store::run(std::int64_t id) const {
  const std::lock_guard lock(state_->mutex);
  return explain(store::read_run(state_->database, id), fmt::format("read run {}", id));
}

Result<std::vector<ClientRecord>> Store::clients(std::int64_t run) const {
  const std::lock_guard lock(state_->mutex);
  return explain(store::read_clients(state_->database, run),
                 fmt::format("read the clients of run {}", run));
}

Result<std::vector<RoundRecord>> Store::rounds(std::int64_t run) const {
  const std::lock_guard lock(state_->mutex);
  return explain(store::read_rounds(state_->database, run),
                 fmt::format("read the rounds of run {}", run));
}

Result<std::vector<EvaluationRecord>> Store::evaluations(std::int64_t run) const {
  const std::lock_guard lock(state_->mutex);
  return explain(store::read_evaluations(state_->database, run),
                 fmt::format("read the evaluations of run {}", run));
}

Result<std::optional<EstimateRecord>> Store::last_estimate(std::int64_t run) const {
  const std::lock_guard lock(state_->mutex);
  return explain(store::read_last_estimate(state_->database, run),
                 fmt::format("read the label estimates of run {}", run));
}

Result<void> Store::write_measurement(const MeasurementRecord& measurement) {
  const std::lock_guard lock(state_->mutex);
  return explain(store::write_measurement(state_->database, measurement),
                 fmt::format("write a measurement of {}", measurement.experiment));
}

Result<std::vector<MeasurementRecord>> Store::measurements(std::string_view experiment) const {
  const std::lock_guard lock(state_->mutex);
  return explain(store::read_measurements(state_->database, experiment), "read the measurements");
}

Result<ImportReport> Store::import_from(const std::filesystem::path& file, ImportMode mode) {
  const std::lock_guard lock(state_->mutex);
  return explain(store::import_results(state_->database, state_->file, file, mode),
                 fmt::format("import {}", file.string()));
}

std::filesystem::path Store::models_folder() const {
  std::filesystem::path folder = state_->file;
  return folder += ".models";
}

}  // namespace boba::sim
