// One SQLite connection, with Results for errors and parameters bound, never pasted into SQL.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "boba/core/result.h"

namespace boba::sim::store {

// How much one connection to a database may still read. A file can make SQLite work without end in
// spite of a sound schema: a table whose inner pages all point to the same page below has endless
// rows. A sound table gives every byte of its file a few times at most, so the limits grow with the
// size of the files.
class WorkLimit {
 public:
  explicit WorkLimit(std::string file) : file_(std::move(file)) {}

  // Counts from now on, for the files given; for each statement anew, or for all together.
  void start(std::vector<std::filesystem::path> files, bool each_statement);
  void add_file(const std::filesystem::path& file) { files_.push_back(file); }
  void begin_statement();

  void take_steps(std::int64_t steps) { steps_left_ -= steps; }
  void take_bytes(std::size_t bytes) { bytes_left_ -= static_cast<std::int64_t>(bytes); }
  bool used_up() const { return steps_left_ < 0 || bytes_left_ < 0; }

  const std::string& file() const { return file_; }
  Error error() const;

 private:
  void refill();

  std::string file_;  // as errors name it
  std::vector<std::filesystem::path> files_;
  bool each_statement_ = false;
  std::int64_t size_ = 0;  // bytes of the files
  std::int64_t steps_left_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes_left_ = std::numeric_limits<std::int64_t>::max();
};

// A parameter of a statement. Looks at texts and bytes; they must outlive the call it is given to.
class Value {
 public:
  struct Bytes {
    std::string_view bytes;
  };

  Value(std::nullptr_t) {}
  Value(int value) : value_(std::int64_t{value}) {}
  Value(std::int64_t value) : value_(value) {}
  Value(double value);  // NULL if it is not finite: SQL has no such numbers
  Value(std::string_view value) : value_(value) {}
  Value(const std::string& value) : value_(std::string_view(value)) {}
  Value(const char* value) : value_(std::string_view(value)) {}
  Value(Bytes value) : value_(value) {}
  template <class T>
  Value(const std::optional<T>& value) : Value(value ? Value(*value) : Value(nullptr)) {}

  // The result code of SQLite.
  int bind(sqlite3_stmt* statement, int index) const;

 private:
  std::variant<std::nullptr_t, std::int64_t, double, std::string_view, Bytes> value_ = nullptr;
};

// The row that a statement stands on. Each call reads the next column.
class Row {
 public:
  Row(sqlite3_stmt* statement, WorkLimit& limit) : statement_(statement), limit_(&limit) {}

  bool is_null() const { return sqlite3_column_type(statement_, column_) == SQLITE_NULL; }
  void skip(int columns) { column_ += columns; }
  std::int64_t integer() { return sqlite3_column_int64(statement_, column_++); }
  int small() { return sqlite3_column_int(statement_, column_++); }
  double number();  // NaN for NULL
  std::string text();
  std::optional<double> maybe_number();
  std::optional<int> maybe_small();

 private:
  sqlite3_stmt* statement_;
  WorkLimit* limit_;
  int column_ = 0;
};

class Statement {
 public:
  // Binds, and steps to the end; may be called again with other values.
  Result<void> run(std::span<const Value> values);
  Result<void> run(std::initializer_list<Value> values) {
    return run(std::span(values.begin(), values.size()));
  }
  // body(Row&) gives Result<void>; the first error ends it.
  template <class Body>
  Result<void> each(std::span<const Value> values, Body&& body) {
    Result<bool> more = first(values);
    while (more && *more) {
      Row row(statement_.get(), *limit_);
      if (Result<void> taken = body(row); !taken) {
        sqlite3_reset(statement_.get());
        return taken;
      }
      more = next();
    }
    sqlite3_reset(statement_.get());
    if (!more) return more.error();
    return {};
  }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement(WorkLimit& limit, sqlite3_stmt* statement) : limit_(&limit), statement_(statement) {}
  Result<bool> first(std::span<const Value> values);
  Result<bool> next();

  WorkLimit* limit_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

inline constexpr int kBusyMilliseconds = 30000;

enum class Access : std::uint8_t {
  kReadWrite,
  kCreate,
  kReadOnly,
  kFrozen,  // read-only, and nobody else writes: needs no files beside it
};

// The file as SQLite is told to open or attach it.
Result<std::string> uri_of(const std::filesystem::path& file, Access access);

// Not thread-safe.
class Database {
 public:
  // As SQLite opens it. Files of others go through open_database (open.h), which trusts nothing.
  static Result<Database> open(const std::filesystem::path& file, Access access);
  static Result<Database> in_memory();

  sqlite3* handle() const { return handle_.get(); }
  const std::string& file() const { return limit_->file(); }
  // Without a limit until this is called.
  void limit_work(std::vector<std::filesystem::path> files, bool each_statement);
  WorkLimit& work_limit() { return *limit_; }

  // How long a statement waits for its turn; at first kBusyMilliseconds.
  void set_patience(int milliseconds) { sqlite3_busy_timeout(handle_.get(), milliseconds); }

  // Several statements without parameters.
  Result<void> script(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  Result<void> run(std::string_view sql, std::initializer_list<Value> values = {});
  template <class Body>
  Result<void> each(std::string_view sql, std::span<const Value> values, Body&& body) {
    Result<Statement> statement = prepare(sql);
    if (!statement) return statement.error();
    return statement->each(values, body);
  }
  template <class Body>
  Result<void> each(std::string_view sql, std::initializer_list<Value> values, Body&& body) {
    return each(sql, std::span(values.begin(), values.size()), body);
  }
  // The first column of the first row; 0 if there is no row.
  Result<std::int64_t> integer(std::string_view sql, std::initializer_list<Value> values = {});
  // Rows that the last INSERT, UPDATE or DELETE touched.
  std::int64_t changes() const { return sqlite3_changes64(handle_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  static Result<Database> open_uri(std::string name, const std::string& uri, int flags);
  Database(std::unique_ptr<WorkLimit> limit, sqlite3* handle)
      : limit_(std::move(limit)), handle_(handle) {}

  std::unique_ptr<WorkLimit> limit_;  // on the heap: statements and SQLite point to it
  std::unique_ptr<sqlite3, Close> handle_;
};

// A write transaction that waits its turn before it reads; undone unless it is committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;  // null once it is over
};

}  // namespace boba::sim::store
