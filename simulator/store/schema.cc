#include "simulator/store/schema.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "boba/text/printable.h"

namespace boba::sim::store {
namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE runs (
  run         INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  config      TEXT NOT NULL,
  data        TEXT NOT NULL,
  baseline    TEXT NOT NULL,
  dataset     TEXT NOT NULL,
  partition   TEXT NOT NULL,
  model       TEXT NOT NULL,
  algorithm   TEXT NOT NULL,
  rule        TEXT NOT NULL,
  attack      TEXT NOT NULL,
  honest      INTEGER NOT NULL,
  byzantine   INTEGER NOT NULL,
  seed        INTEGER NOT NULL,
  rounds      INTEGER NOT NULL,
  parameters  INTEGER NOT NULL,
  classes     TEXT NOT NULL,
  version     TEXT NOT NULL,
  status      TEXT NOT NULL DEFAULT 'waiting'
              CHECK (status IN ('waiting', 'running', 'stopped', 'finished', 'failed')),
  rounds_done INTEGER NOT NULL DEFAULT 0,
  seconds     REAL NOT NULL DEFAULT 0,
  owner       TEXT,
  written     TEXT,
  created     TEXT NOT NULL,
  finished    TEXT,
  error       TEXT,
  model_file  TEXT,
  UNIQUE (config, data)
);
CREATE TABLE clients (
  run        INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  client     INTEGER NOT NULL,
  honest     INTEGER NOT NULL,
  corruption TEXT,
  PRIMARY KEY (run, client)
) WITHOUT ROWID;
CREATE TABLE label_counts (
  run    INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  client INTEGER NOT NULL,
  class  INTEGER NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (run, client, class)
) WITHOUT ROWID;
CREATE TABLE rounds (
  run               INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  round             INTEGER NOT NULL,
  learning_rate     REAL,
  train_seconds     REAL,
  attack_seconds    REAL,
  aggregate_seconds REAL,
  evaluate_seconds  REAL,
  participants      TEXT,
  rejected          TEXT NOT NULL,
  false_accepts     INTEGER NOT NULL,
  false_rejects     INTEGER NOT NULL,
  label_error       REAL,
  note              TEXT,
  PRIMARY KEY (run, round)
);
CREATE TABLE evaluations (
  run       INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  round     INTEGER NOT NULL,
  loss      REAL,
  accuracy  REAL,
  confusion TEXT NOT NULL,
  PRIMARY KEY (run, round)
);
CREATE TABLE recalls (
  run    INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  round  INTEGER NOT NULL,
  class  INTEGER NOT NULL,
  recall REAL,
  PRIMARY KEY (run, round, class)
) WITHOUT ROWID;
CREATE TABLE estimates (
  run     INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  round   INTEGER NOT NULL,
  clients TEXT NOT NULL,
  shares  TEXT NOT NULL,
  PRIMARY KEY (run, round)
);
CREATE TABLE checkpoints (
  run   INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  round INTEGER NOT NULL,
  bytes BLOB NOT NULL
);
)sql";

// A scalar max with a NULL is NULL: without a baseline there is no mrd.
constexpr const char* kViews = R"sql(
ALTER TABLE rounds ADD COLUMN update_norm REAL;
ALTER TABLE rounds ADD COLUMN fits INTEGER;
CREATE VIEW results AS
SELECT r.run, r.name, r.status, r.dataset, r.partition, r.model, r.algorithm, r.rule, r.attack,
       r.honest, r.byzantine, r.seed, r.rounds, r.rounds_done, e.accuracy, e.loss,
       (SELECT max(0.0, max(theirs.recall - own.recall))
          FROM runs AS b
          JOIN recalls AS theirs ON theirs.run = b.run
           AND theirs.round = (SELECT max(round) FROM evaluations WHERE run = b.run)
          JOIN recalls AS own ON own.run = r.run AND own.round = e.round
           AND own.class = theirs.class
         WHERE b.config = r.baseline AND b.data = r.data AND b.status = 'finished') AS mrd,
       r.seconds, r.parameters, r.version, r.created, r.finished, r.error, r.model_file
  FROM runs AS r
  LEFT JOIN evaluations AS e ON e.run = r.run
   AND e.round = (SELECT max(round) FROM evaluations WHERE run = r.run);
CREATE VIEW classes AS
SELECT r.run, j.key AS class, j.value AS name FROM runs AS r, json_each(r.classes) AS j;
CREATE VIEW rejections AS
SELECT r.run, r.round, j.value AS client FROM rounds AS r, json_each(r.rejected) AS j;
CREATE VIEW decisions AS
SELECT r.run, r.round, c.client, c.honest,
       c.client NOT IN (SELECT value FROM json_each(r.rejected)) AS accepted
  FROM rounds AS r JOIN clients AS c ON c.run = r.run
 WHERE r.participants IS NULL OR c.client IN (SELECT value FROM json_each(r.participants));
CREATE VIEW label_estimates AS
SELECT e.run, e.round, who.value AS client, share.key AS class, share.value AS share
  FROM estimates AS e, json_each(e.clients) AS who,
       json_each(e.shares, '$[' || who.key || ']') AS share;
)sql";

// Results that are measured without a run: principal components, times, ratios.
constexpr const char* kMeasurements = R"sql(
CREATE TABLE measurements (
  measurement INTEGER PRIMARY KEY,
  experiment  TEXT NOT NULL,
  config      TEXT NOT NULL,
  data        TEXT NOT NULL,
  seed        INTEGER NOT NULL,
  version     TEXT NOT NULL,
  machine     TEXT NOT NULL,
  seconds     REAL NOT NULL,
  created     TEXT NOT NULL,
  UNIQUE (experiment, config, data, seed)
);
CREATE TABLE points (
  measurement INTEGER NOT NULL REFERENCES measurements ON DELETE CASCADE,
  series      TEXT NOT NULL,
  number      INTEGER NOT NULL,
  x           REAL,
  y           REAL,
  PRIMARY KEY (measurement, series, number)
) WITHOUT ROWID;
)sql";

// Before, only the version told of a GPU: "0.1.0, cuda, NVIDIA H200".
constexpr const char* kGpu = R"sql(
ALTER TABLE runs ADD COLUMN gpu TEXT;
UPDATE runs SET gpu = nullif(substr(version, instr(version, ', ') + 2), '')
 WHERE instr(version, ', ') > 0;
)sql";

constexpr const char* kMigrations[] = {kTables, kViews, kMeasurements, kGpu};

struct Identity {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t objects = 0;
};

// All three of one moment: another process may be making the tables.
Result<Identity> read_identity(Database& database, std::string_view schema) {
  Identity identity;
  if (Result<void> begun = database.script("SAVEPOINT identity"); !begun) return begun.error();
  Result<void> done;
  for (const auto& [sql, place] :
       {std::pair{"PRAGMA {}.application_id", &identity.application},
        std::pair{"PRAGMA {}.user_version", &identity.version},
        std::pair{"SELECT 1 FROM {}.sqlite_schema LIMIT 1", &identity.objects}}) {
    Result<std::int64_t> value = database.integer(fmt::format(fmt::runtime(sql), schema));
    if (!value) {
      done = value.error();
      break;
    }
    *place = *value;
  }
  const Result<void> ended = database.script("RELEASE identity");
  if (!done) return done.error();
  if (!ended) return ended.error();
  return identity;
}

// The version of the file's schema; 0 for an empty file.
Result<std::size_t> version_of(Database& database, std::string_view schema = "main") {
  Result<Identity> found = read_identity(database, schema);
  if (!found) return found.error();
  if (found->application == 0 && found->version == 0 && found->objects == 0) return std::size_t{0};
  if (found->application != kApplicationId || found->version < 1) {
    return Error{ErrorCode::kIo,
                 database.file() + ": a SQLite database, but not one of boba's results"};
  }
  const auto version = static_cast<std::size_t>(found->version);
  if (version > std::size(kMigrations)) {
    return Error{
        ErrorCode::kIo,
        fmt::format("{}: its schema has version {}, this boba knows up to {}; a newer boba "
                    "reads it",
                    database.file(), version, std::size(kMigrations))};
  }
  return version;
}

// A table, view, index or trigger, as sqlite_schema describes it.
struct Object {
  std::string type;
  std::string table;
  std::string sql;  // with single spaces; empty for the indexes that SQLite makes itself
  bool operator==(const Object&) const = default;
};
using Objects = std::map<std::string, Object>;

// No text in our own statements has several spaces, so nothing that matters is lost.
std::string single_spaced(std::string_view sql) {
  std::string text;
  for (const char c : sql) {
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    if (!space) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  return text;
}

// body(name, object) gives Result<void>; the first error ends it.
template <class Body>
Result<void> each_object(Database& database, std::string_view schema, Body body) {
  return database.each(
      fmt::format("SELECT name, type, tbl_name, sql FROM {}.sqlite_schema", schema), {},
      [&](Row& row) -> Result<void> {
        const std::string name = row.text();
        Object object;
        object.type = row.text();
        object.table = row.text();
        object.sql = single_spaced(row.text());
        return body(name, object);
      });
}

// What the migrations make, asked of SQLite itself.
Result<Objects> expected_objects(std::size_t version) {
  Result<Database> database = Database::in_memory();
  if (!database) return database.error();
  for (std::size_t i = 0; i < version; ++i) {
    if (Result<void> done = database->script(kMigrations[i]); !done) return done.error();
  }
  Objects objects;
  Result<void> done = each_object(*database, "main", [&](const std::string& name, Object& object) {
    objects.emplace(name, std::move(object));
    return Result<void>();
  });
  if (!done) return done.error();
  return objects;
}

// The name in it is the file's: no command is suggested that would carry it into a shell.
Error not_ours(const Database& database, const std::string& what) {
  return {ErrorCode::kIo,
          printable(fmt::format(
              "{}: {}; a results database has exactly the tables, views and indexes that boba "
              "makes. If you added or changed something, undo it with the sqlite3 program; if you "
              "did not, do not trust the file",
              database.file(), what))};
}

Result<void> check_objects(Database& database, std::string_view schema, std::size_t version) {
  Result<Objects> expected = expected_objects(version);
  if (!expected) return expected.error();
  Result<void> same =
      each_object(database, schema, [&](const std::string& name, const Object& object) {
        const auto ours = expected->find(name);
        if (ours == expected->end()) {
          return Result<void>(
              not_ours(database, fmt::format("it has the {} '{}', which boba did not make",
                                             excerpt(object.type), excerpt(name))));
        }
        if (ours->second != object) {
          return Result<void>(not_ours(
              database, fmt::format("its {} '{}' is not the {} that boba makes",
                                    excerpt(object.type), excerpt(name), ours->second.type)));
        }
        expected->erase(ours);
        return Result<void>();
      });
  if (!same || expected->empty()) return same;
  const auto& [name, object] = *expected->begin();
  return not_ours(database, fmt::format("the {} '{}' is missing", object.type, name));
}

Result<void> look(Database& database, std::string_view schema) {
  Result<std::size_t> version = version_of(database, schema);
  if (!version) return version.error();
  return check_objects(database, schema, *version);
}

Result<void> upgrade(Database& database) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  // Another process may have done it while this one waited.
  Result<std::size_t> version = version_of(database);
  if (!version) return version.error();
  for (std::size_t i = *version; i < std::size(kMigrations); ++i) {
    if (Result<void> done = database.script(kMigrations[i]); !done) return done;
  }
  const std::string marks = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                        kApplicationId, std::size(kMigrations));
  if (Result<void> done = database.script(marks.c_str()); !done) return done;
  return transaction->commit();
}

}  // namespace

std::span<const char* const> migrations() { return kMigrations; }

// All at one moment: another process may be making the tables.
Result<void> check_identity(Database& database, std::string_view schema) {
  if (Result<void> begun = database.script("SAVEPOINT look"); !begun) return begun;
  Result<void> known = look(database, schema);
  if (Result<void> ended = database.script("RELEASE look"); known && !ended) return ended;
  return known;
}

Result<void> add_views(Database& database) {
  const std::string_view script = kViews;
  const std::size_t begin = script.find("VIEW results AS");
  const std::string sql =
      fmt::format("CREATE TEMP {}", script.substr(begin, script.find(';', begin) - begin));
  if (Result<void> done = database.script("PRAGMA temp_store = MEMORY"); !done) return done;
  return database.script(sql.c_str());
}

Result<void> migrate(Database& database) {
  Result<std::size_t> version = version_of(database);
  if (!version) return version.error();
  if (*version == std::size(kMigrations)) return {};
  return upgrade(database);
}

}  // namespace boba::sim::store
