// Opening a results database, with all that SQLite has to be told. Every command opens its files
// here: nothing in a file is trusted until its schema turns out to be ours.
#pragma once

#include <chrono>
#include <filesystem>

#include "boba/core/result.h"
#include "simulator/store/sqlite.h"
#include "simulator/store/store.h"

namespace boba::sim::store {

// A file or folder that may not be written opens for reading only, if the mode is kExisting. Waits
// at most this long for others that keep a file from becoming one for many readers and a writer;
// to read an existing file it need not become one, so then it does not wait.
Result<Database> open_database(const std::filesystem::path& file, OpenMode mode,
                               std::chrono::milliseconds patience = std::chrono::seconds(30));

// How a file that is there can be opened.
Access access_to(const std::filesystem::path& file, OpenMode mode);

}  // namespace boba::sim::store
