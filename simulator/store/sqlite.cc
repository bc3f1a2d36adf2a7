#include "simulator/store/sqlite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "boba/text/printable.h"

namespace boba::sim::store {
namespace {

// Measured on sound files: 0.6 steps and 2.1 bytes for each byte of the file, read once whole.
constexpr std::int64_t kFreeSteps = 50'000'000;
constexpr std::int64_t kStepsPerByte = 32;
constexpr std::int64_t kFreeBytes = 64'000'000;
constexpr std::int64_t kBytesPerByte = 16;
constexpr std::int64_t kMostCounted = 4'000'000'000;  // a file with holes can be of any size

std::int64_t size_of(const std::filesystem::path& file) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(file, missing);
  return missing ? 0 : static_cast<std::int64_t>(std::min<std::uintmax_t>(size, kMostCounted));
}

constexpr std::size_t kBytesPerRow = 64;  // in memory, beside its texts
constexpr int kStepsBetweenChecks = 10'000;

// Messages of SQLite quote names from the file.
Error sqlite_error(const WorkLimit& limit, sqlite3* handle) {
  if (limit.used_up()) return limit.error();
  return {ErrorCode::kIo, printable(fmt::format("{}: {}", limit.file(), sqlite3_errmsg(handle)))};
}

// Of SQLite's steps; another number than 0 ends the statement.
int count_steps(void* argument) {
  auto* limit = static_cast<WorkLimit*>(argument);
  limit->take_steps(kStepsBetweenChecks);
  return limit->used_up() ? 1 : 0;
}

// A file name as a URI has it.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char letter : name) {
    if (letter == '%' || letter == '?' || letter == '#') {
      text += fmt::format("%{:02X}", static_cast<unsigned>(letter));
    } else {
      text += letter;
    }
  }
  return text;
}

int flags_of(Access access) {
  switch (access) {
    case Access::kReadWrite:
      return SQLITE_OPEN_READWRITE;
    case Access::kCreate:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Access::kReadOnly:
    case Access::kFrozen:
      break;
  }
  return SQLITE_OPEN_READONLY;
}

}  // namespace

void WorkLimit::start(std::vector<std::filesystem::path> files, bool each_statement) {
  files_ = std::move(files);
  each_statement_ = each_statement;
  refill();
}

void WorkLimit::begin_statement() {
  if (each_statement_) refill();
}

void WorkLimit::refill() {
  size_ = 0;
  for (const std::filesystem::path& file : files_) {
    size_ += size_of(file) + size_of(file.string() + "-wal");
  }
  size_ = std::min(size_, kMostCounted);
  steps_left_ = kFreeSteps + kStepsPerByte * size_;
  bytes_left_ = kFreeBytes + kBytesPerByte * size_;
}

Error WorkLimit::error() const {
  const std::string what =
      bytes_left_ < 0 ? fmt::format("it gives more than {} MB of data",
                                    (kFreeBytes + kBytesPerByte * size_) / 1'000'000)
                      : fmt::format("reading it takes more than {} million steps of SQLite",
                                    (kFreeSteps + kStepsPerByte * size_) / 1'000'000);
  return {ErrorCode::kIo,
          printable(fmt::format(
              "{}: {}, the limit for {} kB; the file is damaged or made to keep its reader busy. "
              "'PRAGMA integrity_check' in the sqlite3 program shows damage; if it does, get the "
              "file again from the machine that wrote it",
              file_, what, (size_ + 999) / 1000))};
}

Value::Value(double value) {
  if (std::isfinite(value)) value_ = value;
}

int Value::bind(sqlite3_stmt* statement, int index) const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) {
    return sqlite3_bind_int64(statement, index, *integer);
  }
  if (const auto* number = std::get_if<double>(&value_)) {
    return sqlite3_bind_double(statement, index, *number);
  }
  // A view without memory would be bound as NULL.
  if (const auto* text = std::get_if<std::string_view>(&value_)) {
    return sqlite3_bind_text64(statement, index, text->empty() ? "" : text->data(), text->size(),
                               SQLITE_STATIC, SQLITE_UTF8);
  }
  if (const auto* blob = std::get_if<Bytes>(&value_)) {
    const std::string_view bytes = blob->bytes;
    return sqlite3_bind_blob64(statement, index, bytes.empty() ? "" : bytes.data(), bytes.size(),
                               SQLITE_STATIC);
  }
  return sqlite3_bind_null(statement, index);
}

double Row::number() { return maybe_number().value_or(std::numeric_limits<double>::quiet_NaN()); }

std::string Row::text() {
  const void* bytes = sqlite3_column_blob(statement_, column_);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column_));
  ++column_;
  limit_->take_bytes(size);
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

std::optional<double> Row::maybe_number() {
  const bool missing = is_null();
  const double value = sqlite3_column_double(statement_, column_++);
  if (missing) return std::nullopt;
  return value;
}

std::optional<int> Row::maybe_small() {
  const bool missing = is_null();
  const int value = small();
  if (missing) return std::nullopt;
  return value;
}

Result<void> Statement::run(std::span<const Value> values) {
  return each(values, [](Row&) { return Result<void>(); });
}

Result<bool> Statement::first(std::span<const Value> values) {
  sqlite3_reset(statement_.get());
  limit_->begin_statement();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].bind(statement_.get(), static_cast<int>(i + 1)) != SQLITE_OK) {
      return sqlite_error(*limit_, sqlite3_db_handle(statement_.get()));
    }
  }
  return next();
}

Result<bool> Statement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_DONE) return false;
  limit_->take_bytes(kBytesPerRow);
  if (code == SQLITE_ROW && !limit_->used_up()) return true;
  return sqlite_error(*limit_, sqlite3_db_handle(statement_.get()));
}

Result<std::string> uri_of(const std::filesystem::path& file, Access access) {
  // An absolute name: SQLite takes some relative ones, like ":memory:", for something else.
  std::error_code failure;
  const std::string absolute = std::filesystem::absolute(file, failure).string();
  if (failure) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", file.string(), failure.message())};
  }
  return fmt::format("file://{}{}", escaped(absolute),
                     access == Access::kFrozen ? "?immutable=1" : "");
}

Result<Database> Database::open(const std::filesystem::path& file, Access access) {
  const Result<std::string> uri = uri_of(file, access);
  if (!uri) return uri.error();
  return open_uri(file.string(), *uri, flags_of(access));
}

Result<Database> Database::in_memory() {
  return open_uri("memory", "file::memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<Database> Database::open_uri(std::string name, const std::string& uri, int flags) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(uri.c_str(), &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(std::make_unique<WorkLimit>(std::move(name)), handle);
  if (handle == nullptr) return Error{ErrorCode::kInternal, "out of memory"};
  if (code != SQLITE_OK) return sqlite_error(*database.limit_, handle);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return database;
}

void Database::limit_work(std::vector<std::filesystem::path> files, bool each_statement) {
  limit_->start(std::move(files), each_statement);
  sqlite3_progress_handler(handle_.get(), kStepsBetweenChecks, count_steps, limit_.get());
}

Result<void> Database::script(const char* sql) {
  limit_->begin_statement();
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return sqlite_error(*limit_, handle_.get());
  }
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int size = static_cast<int>(sql.size());
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), size, &statement, nullptr) != SQLITE_OK) {
    return sqlite_error(*limit_, handle_.get());
  }
  return Statement(*limit_, statement);
}

Result<void> Database::run(std::string_view sql, std::initializer_list<Value> values) {
  return each(sql, values, [](Row&) { return Result<void>(); });
}

Result<std::int64_t> Database::integer(std::string_view sql, std::initializer_list<Value> values) {
  std::int64_t value = 0;
  bool first = true;
  Result<void> done = each(sql, values, [&](Row& row) {
    if (std::exchange(first, false)) value = row.integer();
    return Result<void>();
  });
  if (!done) return done.error();
  return value;
}

Result<Transaction> Transaction::begin(Database& database) {
  if (Result<void> begun = database.script("BEGIN IMMEDIATE"); !begun) return begun.error();
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // Where SQLite has undone it already, as on a full disk, there is nothing left to roll back.
  if (database_ == nullptr || sqlite3_get_autocommit(database_->handle()) != 0) return;
  sqlite3_exec(database_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> Transaction::commit() {
  Result<void> done = database_->script("COMMIT");
  if (done) database_ = nullptr;
  return done;
}

}  // namespace boba::sim::store
