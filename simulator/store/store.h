// Store: results of runs in one SQLite file. Several threads and processes may use one file at
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/store/import.h"
#include "simulator/store/records.h"

namespace boba::sim {

enum class OpenMode : std::uint8_t { kCreate, kExisting };

// What a round writes, in one transaction.
struct RoundEntry {
  RoundRecord round;
  std::optional<EvaluationRecord> evaluation;
  std::optional<EstimateRecord> estimate;
  std::string checkpoint;  // takes the place of the last one; empty: the last one stays
};

// Whether the caller may run a run now.
enum class ClaimOutcome : std::uint8_t {
  kClaimed,    // it is the caller's: status is running
  kBusy,       // another live process has it
  kFinished,   // nothing to do
  kUnfinished  // stopped, failed or left by a dead process; claim again with resume or restart
};

enum class ClaimMode : std::uint8_t {
  kNew,      // only a run that never started
  kResume,   // also an unfinished one, from its checkpoint
  kRestart,  // any, from the beginning: what it had is deleted
};

// Thread-safe. Every write is a transaction; a killed process loses at most the one in progress.
class Store {
 public:
  // Creates the file where the mode says so, migrates an older schema, refuses a newer one.
  static Result<Store> open(const std::filesystem::path& file, OpenMode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::filesystem::path& file() const;

  // The run with this config and data: found, or made with status waiting.
  Result<std::int64_t> add_run(const RunHeader& header);
  // Takes the run for this process. A process that died without a word is noticed.
  Result<ClaimOutcome> claim(std::int64_t run, ClaimMode mode);

  // REQUIRES, for the writes below: this process has claimed the run.
  Result<void> write_clients(std::int64_t run, std::span<const ClientRecord> clients);
  Result<void> write_round(std::int64_t run, const RoundEntry& entry);
  // The run ends: its claim is given up. Finishing deletes the checkpoint and notes the model file.
  Result<void> finish(std::int64_t run, const std::string& model_file);
  Result<void> stop(std::int64_t run);
  Result<void> fail(std::int64_t run, const std::string& why);

  // Of the last round written; nullopt if there is none.
  Result<std::optional<std::string>> checkpoint(std::int64_t run) const;

  // All runs in the order of their ids; where: "rule=boba,attack~ipm" as `boba results --where` has
  // it, empty for all.
  Result<std::vector<RunRecord>> runs(std::string_view where = {}) const;
  Result<RunRecord> run(std::int64_t id) const;
  Result<std::vector<ClientRecord>> clients(std::int64_t run) const;
  Result<std::vector<RoundRecord>> rounds(std::int64_t run) const;
  Result<std::vector<EvaluationRecord>> evaluations(std::int64_t run) const;
  // The last one, if there is any.
  Result<std::optional<EstimateRecord>> last_estimate(std::int64_t run) const;

  // What was computed rather than run. Takes the place of one with the same experiment, config,
  // data and seed.
  Result<void> write_measurement(const MeasurementRecord& measurement);
  // In the order of their ids; of one experiment, or all if it is empty.
  Result<std::vector<MeasurementRecord>> measurements(std::string_view experiment = {}) const;

  // Takes over what another database has: runs and measurements that are not here, and finished
  // runs in place of unfinished ones. All of it happens, or nothing; nothing where finished runs
  // contradict each other, unless the mode says to keep those that are here.
  Result<ImportReport> import_from(const std::filesystem::path& file, ImportMode mode);

  // The folder for the models of this database: FILE.models. Not without FILE's ending: a.db and
  // a.sqlite are two databases.
  std::filesystem::path models_folder() const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace boba::sim
