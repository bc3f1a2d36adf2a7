// The reads of a Store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/store/records.h"
#include "simulator/store/sqlite.h"

namespace boba::sim::store {

// What read_runs needs of a connection: the SQL function that tells whether an owner lives.
Result<void> add_functions(Database& database);

Result<std::vector<RunRecord>> read_runs(Database& database, std::string_view where);
Result<RunRecord> read_run(Database& database, std::int64_t run);
Result<std::vector<ClientRecord>> read_clients(Database& database, std::int64_t run);
Result<std::vector<RoundRecord>> read_rounds(Database& database, std::int64_t run);
Result<std::vector<EvaluationRecord>> read_evaluations(Database& database, std::int64_t run);
Result<std::optional<EstimateRecord>> read_last_estimate(Database& database, std::int64_t run);
Result<std::optional<std::string>> read_checkpoint(Database& database, std::int64_t run);
Result<std::vector<MeasurementRecord>> read_measurements(Database& database,
                                                         std::string_view experiment);

}  // namespace boba::sim::store
