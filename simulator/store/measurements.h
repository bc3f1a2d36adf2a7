// Measurements of a Store: what was computed rather than run.
#pragma once

#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/store/records.h"
#include "simulator/store/sqlite.h"

namespace boba::sim::store {

Result<void> write_measurement(Database& database, const MeasurementRecord& measurement);
Result<std::vector<MeasurementRecord>> read_measurements(Database& database,
                                                         std::string_view experiment);

}  // namespace boba::sim::store
