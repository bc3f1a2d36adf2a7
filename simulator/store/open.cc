#include "simulator/store/open.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>
#include <thread>
#include <utility>

#include "simulator/store/schema.h"

namespace boba::sim::store {
namespace {

namespace fs = std::filesystem;

bool writable(const fs::path& path) { return ::access(path.c_str(), W_OK) == 0; }

fs::path folder_of(const fs::path& file) {
  return file.parent_path().empty() ? fs::path(".") : file.parent_path();
}

// Twice the longest statement and the widest table of ours, and more.
constexpr int kLongestSql = 100'000;
constexpr int kMostColumns = 100;

// Whether a process that died left changes in a file beside the database.
bool has_unmerged_changes(const fs::path& file) {
  for (const char* ending : {"-wal", "-journal"}) {
    std::error_code missing;
    const auto size = fs::file_size(file.string() + ending, missing);
    if (!missing && size > 0) return true;
  }
  return false;
}

Result<void> check_place(const fs::path& file, OpenMode mode) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    return Error{ErrorCode::kIo, file.string() + ": is a folder, not a results database"};
  }
  const bool there = fs::exists(file, ignored);
  if (mode == OpenMode::kExisting && !there) {
    return Error{ErrorCode::kIo, file.string() + ": there is no such results database"};
  }
  if (there && !fs::is_regular_file(file, ignored)) {
    return Error{ErrorCode::kIo,
                 file.string() + ": is not a regular file, and so no results database"};
  }
  if (mode == OpenMode::kCreate && !fs::is_directory(folder_of(file), ignored)) {
    return Error{ErrorCode::kIo, fmt::format("{}: the folder {} does not exist; make it first",
                                             file.string(), folder_of(file).string())};
  }
  return {};
}

// SQLite does not wait if two processes set this on a new file at once, and waits in vain if
// another program reads a file of another journal mode. So there is one deadline for all attempts.
Result<void> set_wal(Database& database, Access access, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  database.set_patience(0);
  Result<void> done;
  bool taken = false;
  while (true) {
    done = database.script("PRAGMA journal_mode = WAL");
    const int code = sqlite3_errcode(database.handle()) & 0xff;
    taken = !done && (code == SQLITE_BUSY || code == SQLITE_LOCKED);
    if (!taken || access != Access::kCreate || std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  database.set_patience(kBusyMilliseconds);
  if (!taken) return done;
  if (access != Access::kCreate) return {};
  return Error{ErrorCode::kIo,
               done.error().message + "; another program has locked it; close that program first"};
}

// Called before the first read, because a foreign file must not choose the SQL that runs. Its views
// and triggers are disabled even if they look like ours; boba adds its own views (add_views).
Result<void> harden(Database& database, const fs::path& file, OpenMode mode) {
  constexpr std::pair<int, int> kSettings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                               {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                               {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                               {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}};
  for (const auto& [setting, value] : kSettings) {
    if (sqlite3_db_config(database.handle(), setting, value, nullptr) != SQLITE_OK) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("this SQLite, {}, cannot open files of others safely; boba needs "
                               "3.35 or later",
                               sqlite3_libversion())};
    }
  }
  sqlite3_limit(database.handle(), SQLITE_LIMIT_SQL_LENGTH, kLongestSql);
  sqlite3_limit(database.handle(), SQLITE_LIMIT_COLUMN, kMostColumns);
  sqlite3_limit(database.handle(), SQLITE_LIMIT_ATTACHED, 1);
  // A command that only reads reads the file about once. One that writes may run for days.
  database.limit_work({file}, mode == OpenMode::kCreate);
  return {};
}

Result<void> configure(Database& database, Access access, std::chrono::milliseconds patience) {
  if (access == Access::kReadOnly || access == Access::kFrozen) return {};
  if (Result<void> done = set_wal(database, access, patience); !done) return done;
  // A checkpoint of a run replaces the last one: the later the log is copied into the file, the
  // fewer of them are copied. 4000 pages are 16 MB.
  return database.script(
      "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000; PRAGMA foreign_keys = ON");
}

}  // namespace

// WAL needs files beside the database even to read it, and a read-only folder cannot have them.
// In such a folder the database is opened as frozen, unless a file beside it has changes that are
// not merged.
Access access_to(const fs::path& file, OpenMode mode) {
  if (mode == OpenMode::kCreate) return Access::kCreate;
  if (writable(file) && writable(folder_of(file))) return Access::kReadWrite;
  return has_unmerged_changes(file) ? Access::kReadOnly : Access::kFrozen;
}

Result<Database> open_database(const fs::path& file, OpenMode mode,
                               std::chrono::milliseconds patience) {
  if (Result<void> place = check_place(file, mode); !place) return place.error();
  const Access access = access_to(file, mode);
  Result<Database> database = Database::open(file, access);
  if (!database) return database;
  if (Result<void> done = harden(*database, file, mode); !done) return done.error();
  // The identity of the file is checked before boba changes it; migrations follow.
  if (Result<void> known = check_identity(*database); !known) {
    if (access != Access::kReadOnly) return known.error();
    return Error{known.error().code,
                 fmt::format("{}; cannot write {} here, and its -wal or -journal file has changes "
                             "that are not merged; copy both files to a folder where you may write",
                             known.error().message, file.string())};
  }
  if (Result<void> done = configure(*database, access, patience); !done) return done.error();
  if (Result<void> done = migrate(*database); !done) {
    if (access == Access::kCreate || access == Access::kReadWrite) return done.error();
    return Error{done.error().code,
                 fmt::format("{}; an older boba made it, and boba cannot update its tables here; "
                             "copy it to a folder where you may write, and open the copy",
                             done.error().message)};
  }
  if (Result<void> done = add_views(*database); !done) return done.error();
  return database;
}

}  // namespace boba::sim::store
