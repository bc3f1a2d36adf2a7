#include "simulator/store/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "simulator/store/claim.h"
#include "simulator/store/json_text.h"
#include "simulator/store/store.h"
#include "simulator/store/where.h"

namespace boba::sim::store {
namespace {

// A run whose process died without a word is stopped, whatever the table says.
constexpr std::string_view kSelectRuns =
    "SELECT results.run, results.name, runs.config, runs.data, runs.baseline, results.dataset,"
    " results.partition, results.model, results.algorithm, results.rule, results.attack,"
    " results.honest, results.byzantine, results.seed, results.rounds, results.parameters,"
    " runs.classes, results.version, iif(results.status = 'running' AND NOT boba_alive(runs.owner,"
    " (julianday('now') - julianday(runs.written)) * 86400), 'stopped', results.status)"
    " AS status_now, results.rounds_done, results.accuracy, results.mrd, results.seconds,"
    " results.created, results.finished, results.error, results.model_file,"
    " runs.owner, runs.written, runs.gpu"
    " FROM results JOIN runs ON runs.run = results.run WHERE ";

void alive(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  const auto* owner = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
  const bool dated = sqlite3_value_type(values[1]) != SQLITE_NULL;
  const double idle =
      dated ? sqlite3_value_double(values[1]) : std::numeric_limits<double>::infinity();
  sqlite3_result_int(context, owner != nullptr && is_alive(owner, idle) ? 1 : 0);
}

RunStatus status_from(const std::string& text) {
  const auto* const found = std::find(kRunStatuses.begin(), kRunStatuses.end(), text);
  if (found == kRunStatuses.end()) return RunStatus::kWaiting;
  return static_cast<RunStatus>(found - kRunStatuses.begin());
}

Error in_run(std::int64_t run, const Error& error) {
  return {error.code, fmt::format("run {}: {}", run, error.message)};
}

Result<RunRecord> take_run(Row& row) {
  RunRecord record;
  RunHeader& header = record.header;
  record.id = row.integer();
  for (std::string* text :
       {&header.name, &header.config, &header.data, &header.baseline, &header.dataset,
        &header.partition, &header.model, &header.algorithm, &header.rule, &header.attack}) {
    *text = row.text();
  }
  header.honest = row.small();
  header.byzantine = row.small();
  header.seed = static_cast<std::uint64_t>(row.integer());
  header.rounds = row.small();
  header.parameters = static_cast<std::size_t>(row.integer());
  Result<std::vector<std::string>> classes = read_strings(row.text());
  if (!classes) return in_run(record.id, classes.error());
  header.classes = std::move(*classes);
  header.version = row.text();
  record.status = status_from(row.text());
  record.rounds_done = row.small();
  record.accuracy = row.maybe_number();
  record.mrd = row.maybe_number();
  record.seconds = row.number();
  for (std::string* text : {&record.created, &record.finished, &record.error, &record.model_file}) {
    *text = row.text();
  }
  const std::string owner = row.text();
  const std::string written = row.text();
  if (record.status == RunStatus::kRunning) record.owner = owner_text(owner, written);
  header.gpu = row.text();
  return record;
}

Result<std::vector<RunRecord>> select_runs(Database& database, const std::string& condition,
                                           const std::vector<Value>& values) {
  std::vector<RunRecord> records;
  const std::string sql = fmt::format("{}{} ORDER BY results.run", kSelectRuns, condition);
  Result<void> done = database.each(sql, values, [&](Row& row) -> Result<void> {
    Result<RunRecord> record = take_run(row);
    if (!record) return record.error();
    records.push_back(std::move(*record));
    return {};
  });
  if (!done) return done.error();
  return records;
}

Result<RoundRecord> take_round(std::int64_t run, Row& row) {
  RoundRecord record;
  record.round = row.small();
  for (double* number :
       {&record.learning_rate, &record.train_seconds, &record.attack_seconds,
        &record.aggregate_seconds, &record.evaluate_seconds, &record.update_norm}) {
    *number = row.number();
  }
  const std::string participants = row.text();
  if (!participants.empty()) {
    Result<std::vector<int>> list = read_ints(participants);
    if (!list) return in_run(run, list.error());
    record.participants = std::move(*list);
  }
  Result<std::vector<int>> rejected = read_ints(row.text());
  if (!rejected) return in_run(run, rejected.error());
  record.rejected = std::move(*rejected);
  record.false_accepts = row.small();
  record.false_rejects = row.small();
  record.label_error = row.maybe_number();
  record.fits = row.maybe_small();
  record.note = row.text();
  return record;
}

}  // namespace

Result<void> add_functions(Database& database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  const int code = sqlite3_create_function_v2(database.handle(), "boba_alive", 2, kFlags, nullptr,
                                              alive, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return Error{ErrorCode::kInternal, "cannot add a function to SQLite"};
}

Result<std::vector<RunRecord>> read_runs(Database& database, std::string_view where) {
  Result<Where> parsed = parse_where(where);
  if (!parsed) return parsed.error();
  return select_runs(database, parsed->sql, parsed->values());
}

Result<RunRecord> read_run(Database& database, std::int64_t run) {
  Result<std::vector<RunRecord>> found = select_runs(database, "results.run = ?", {Value(run)});
  if (!found) return found.error();
  if (!found->empty()) return std::move(found->front());
  std::string known = "it has none yet";
  Result<void> done =
      database.each("SELECT count(*), min(run), max(run) FROM runs", {}, [&](Row& row) {
        const std::int64_t count = row.integer();
        const std::int64_t first = row.integer();
        if (count == 1) known = fmt::format("its only run is {}", first);
        if (count > 1) known = fmt::format("its {} runs are {} to {}", count, first, row.integer());
        return Result<void>();
      });
  if (!done) return done.error();
  return invalid_argument(fmt::format("{}: there is no run {}; {}", database.file(), run, known));
}

Result<std::vector<ClientRecord>> read_clients(Database& database, std::int64_t run) {
  std::vector<ClientRecord> records;
  Result<void> done = database.each(
      "SELECT c.client, c.honest, c.corruption, l.count FROM clients AS c"
      " LEFT JOIN label_counts AS l ON l.run = c.run AND l.client = c.client"
      " WHERE c.run = ? ORDER BY c.client, l.class",
      {run}, [&](Row& row) {
        const int client = row.small();
        if (records.empty() || records.back().client != client) {
          records.emplace_back().client = client;
        }
        records.back().honest = row.small() != 0;
        records.back().corruption = row.text();
        if (!row.is_null()) {
          records.back().labels.push_back(static_cast<std::size_t>(row.integer()));
        }
        return Result<void>();
      });
  if (!done) return done.error();
  return records;
}

Result<std::vector<RoundRecord>> read_rounds(Database& database, std::int64_t run) {
  std::vector<RoundRecord> records;
  Result<void> done = database.each(
      "SELECT round, learning_rate, train_seconds, attack_seconds, aggregate_seconds,"
      " evaluate_seconds, update_norm, participants, rejected, false_accepts, false_rejects,"
      " label_error, fits, note FROM rounds WHERE run = ? ORDER BY round",
      {run}, [&](Row& row) -> Result<void> {
        Result<RoundRecord> record = take_round(run, row);
        if (!record) return record.error();
        records.push_back(std::move(*record));
        return {};
      });
  if (!done) return done.error();
  return records;
}

Result<std::vector<EvaluationRecord>> read_evaluations(Database& database, std::int64_t run) {
  std::vector<EvaluationRecord> records;
  bool first = true;
  Result<void> done = database.each(
      "SELECT e.round, e.loss, e.accuracy, e.confusion, r.class IS NOT NULL, r.recall"
      " FROM evaluations AS e LEFT JOIN recalls AS r ON r.run = e.run AND r.round = e.round"
      " WHERE e.run = ? ORDER BY e.round, r.class",
      {run}, [&](Row& row) -> Result<void> {
        const int round = row.small();
        if (std::exchange(first, false) || records.back().round != round) {
          EvaluationRecord& record = records.emplace_back();
          record.round = round;
          record.loss = row.maybe_number();
          record.accuracy = row.number();
          Result<std::vector<std::int64_t>> confusion = read_counts(row.text());
          if (!confusion) return in_run(run, confusion.error());
          record.confusion = std::move(*confusion);
        } else {
          row.skip(3);
        }
        if (row.small() != 0) records.back().recall.push_back(row.number());
        return {};
      });
  if (!done) return done.error();
  return records;
}

Result<std::optional<EstimateRecord>> read_last_estimate(Database& database, std::int64_t run) {
  std::optional<EstimateRecord> record;
  Result<void> done = database.each(
      "SELECT round, clients, shares FROM estimates WHERE run = ? ORDER BY round DESC LIMIT 1",
      {run}, [&](Row& row) -> Result<void> {
        record.emplace().round = row.small();
        Result<std::vector<int>> clients = read_ints(row.text());
        if (!clients) return in_run(run, clients.error());
        Result<std::vector<std::vector<double>>> shares = read_table(row.text());
        if (!shares) return in_run(run, shares.error());
        record->clients = std::move(*clients);
        record->shares = std::move(*shares);
        return {};
      });
  if (!done) return done.error();
  return record;
}

Result<std::optional<std::string>> read_checkpoint(Database& database, std::int64_t run) {
  std::optional<std::string> bytes;
  Result<void> done =
      database.each("SELECT bytes FROM checkpoints WHERE run = ?", {run}, [&](Row& row) {
        bytes = row.text();
        return Result<void>();
      });
  if (!done) return done.error();
  return bytes;
}

Result<std::vector<MeasurementRecord>> read_measurements(Database& database,
                                                         std::string_view experiment) {
  std::vector<MeasurementRecord> records;
  Result<void> done = database.each(
      "SELECT m.measurement, m.experiment, m.config, m.data, m.seed, m.version, m.machine,"
      " m.seconds, m.created, p.series, p.x, p.y FROM measurements AS m"
      " LEFT JOIN points AS p ON p.measurement = m.measurement"
      " WHERE ?1 = '' OR m.experiment = ?1 ORDER BY m.measurement, p.series, p.number",
      {experiment}, [&](Row& row) {
        const std::int64_t id = row.integer();
        if (records.empty() || records.back().id != id) {
          MeasurementRecord& record = records.emplace_back();
          record.id = id;
          record.experiment = row.text();
          record.config = row.text();
          record.data = row.text();
          record.seed = static_cast<std::uint64_t>(row.integer());
          record.version = row.text();
          record.machine = row.text();
          record.seconds = row.number();
          record.created = row.text();
        } else {
          row.skip(8);
        }
        if (row.is_null()) return Result<void>();
        MeasuredPoint& point = records.back().points.emplace_back();
        point.series = row.text();
        point.x = row.number();
        point.y = row.number();
        return Result<void>();
      });
  if (!done) return done.error();
  return records;
}

}  // namespace boba::sim::store
