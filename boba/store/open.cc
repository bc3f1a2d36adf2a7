#include "boba/store/open.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "boba/store/schema.h"

namespace boba::store {
namespace {

namespace fs = std::filesystem;

bool writable(const fs::path& path) { return ::access(path.c_str(), W_OK) == 0; }

fs::path folder_of(const fs::path& file) {
  return file.parent_path().empty() ? fs::path(".") : file.parent_path();
}

// WAL needs files beside the database even to read it, which a folder that may not be written
// cannot have; then, unless changes wait in such a file, the database is taken as it lies there.
Access access_to(const fs::path& file, OpenMode mode) {
  if (mode == OpenMode::kCreate) return Access::kCreate;
  if (writable(file) && writable(folder_of(file))) return Access::kReadWrite;
  std::error_code missing;
  const auto waiting = fs::file_size(file.string() + "-wal", missing);
  return missing || waiting == 0 ? Access::kFrozen : Access::kReadOnly;
}

Result<void> check_place(const fs::path& file, OpenMode mode) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    return Error{ErrorCode::kIo, file.string() + ": is a folder, not a results database"};
  }
  if (mode == OpenMode::kExisting && !fs::exists(file, ignored)) {
    return Error{ErrorCode::kIo, file.string() + ": there is no such results database"};
  }
  if (mode == OpenMode::kCreate && !fs::is_directory(folder_of(file), ignored)) {
    return Error{ErrorCode::kIo, fmt::format("{}: the folder {} does not exist; make it first",
                                             file.string(), folder_of(file).string())};
  }
  return {};
}

// SQLite does not wait for its turn when two processes set this on a new file at once.
Result<void> set_wal(Database& database) {
  for (int attempt = 0;; ++attempt) {
    Result<void> done = database.script("PRAGMA journal_mode = WAL");
    const int code = sqlite3_errcode(database.handle()) & 0xff;
    const bool taken = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    if (done || !taken || attempt == 600) return done;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Result<void> configure(Database& database, Access access) {
  // A file from somebody else must not make SQLite call functions of its choice.
  if (Result<void> done = database.script("PRAGMA trusted_schema = OFF"); !done) return done;
  if (access == Access::kReadOnly || access == Access::kFrozen) return {};
  if (Result<void> done = set_wal(database); !done) return done;
  // A checkpoint of a run replaces the last one: the later the log is copied into the file, the
  // fewer of them are copied. 4000 pages are 16 MB.
  return database.script(
      "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000; PRAGMA foreign_keys = ON");
}

}  // namespace

Result<Database> open_database(const fs::path& file, OpenMode mode) {
  if (Result<void> place = check_place(file, mode); !place) return place.error();
  const Access access = access_to(file, mode);
  Result<Database> database = Database::open(file, access);
  if (!database) return database;
  // Who the file belongs to is asked before the first change to it, migrations come after.
  if (Result<void> known = check_identity(*database); !known) return known.error();
  if (Result<void> done = configure(*database, access); !done) return done.error();
  if (Result<void> done = migrate(*database); !done) return done.error();
  return database;
}

}  // namespace boba::store
