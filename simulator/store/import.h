// Taking over the runs and measurements of another database.
#pragma once

#include <filesystem>

#include "boba/core/result.h"
#include "simulator/store/import_report.h"
#include "simulator/store/sqlite.h"

namespace boba::sim::store {

// into is the database of the file into_file; see Store::import_from.
Result<ImportReport> import_results(Database& into, const std::filesystem::path& into_file,
                                    const std::filesystem::path& from, ImportMode mode);

}  // namespace boba::sim::store
