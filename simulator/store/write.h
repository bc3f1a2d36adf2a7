// The writes of a Store. Each is one transaction; owner is this process. claim.h has the claim.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "boba/core/result.h"
#include "simulator/store/records.h"
#include "simulator/store/sqlite.h"
#include "simulator/store/store.h"

namespace boba::sim::store {

Result<std::int64_t> add_run(Database& database, const RunHeader& header);

Result<void> write_clients(Database& database, std::int64_t run, const std::string& owner,
                           std::span<const ClientRecord> clients);
Result<void> write_round(Database& database, std::int64_t run, const std::string& owner,
                         const RoundEntry& entry);

// How a run ends.
struct Ending {
  RunStatus status = RunStatus::kStopped;
  std::string error = {};
  std::string model_file = {};
};
Result<void> end_run(Database& database, std::int64_t run, const std::string& owner,
                     const Ending& ending);

Result<void> write_measurement(Database& database, const MeasurementRecord& measurement);

// Forgets what the run wrote of this round and later ones, and what that took.
Result<void> forget_from(Database& database, std::int64_t run, int round);

}  // namespace boba::sim::store
