// Opening a results database, with all that SQLite has to be told.
#pragma once

#include <filesystem>

#include "boba/core/result.h"
#include "boba/store/sqlite.h"
#include "boba/store/store.h"

namespace boba::store {

// A file or folder that may not be written opens for reading only, if the mode is kExisting.
Result<Database> open_database(const std::filesystem::path& file, OpenMode mode);

}  // namespace boba::store
