#include "simulator/store/import.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "boba/text/printable.h"
#include "simulator/store/claim.h"
#include "simulator/store/open.h"
#include "simulator/store/schema.h"

namespace boba::sim::store {
namespace {

namespace fs = std::filesystem;

// Accuracies that are closer than this differ by rounding: another processor, another library.
constexpr double kRounding = 0.005;

// The tables that belong to a run, and their columns beside its number.
struct Part {
  const char* table;
  const char* columns;
};
constexpr Part kParts[] = {
    {"clients", "client, honest, corruption"},
    {"label_counts", "client, class, count"},
    {"rounds",
     "round, learning_rate, train_seconds, attack_seconds, aggregate_seconds, evaluate_seconds,"
     " participants, rejected, false_accepts, false_rejects, label_error, note, update_norm, fits"},
    {"evaluations", "round, loss, accuracy, confusion"},
    {"recalls", "round, class, recall"},
    {"estimates", "round, clients, shares"},
    {"checkpoints", "round, bytes"},
};

constexpr const char* kRunColumns =
    "name, config, data, baseline, dataset, partition, model, algorithm, rule, attack, honest,"
    " byzantine, seed, rounds, parameters, classes, version, rounds_done, seconds, written,"
    " created, finished, error, gpu";

struct Theirs {
  std::int64_t run = 0;
  std::string status;
  int rounds_done = 0;
  std::string version;
  std::string model_file;
  std::string what;
  // The run here, if there is one.
  std::int64_t ours = 0;
  std::string our_status;
  int our_rounds = 0;
  std::string our_version;
  std::string our_owner;
  double our_idle = 0;
};

// The other database for as long as this lives.
class Attached {
 public:
  static Result<Attached> attach(Database& database, const std::string& uri) {
    if (Result<void> done = database.run("ATTACH DATABASE ? AS theirs", {uri}); !done) {
      return done.error();
    }
    return Attached(database);
  }
  Attached(Attached&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Attached& operator=(Attached&&) = delete;
  ~Attached() {
    if (database_ != nullptr) {
      sqlite3_exec(database_->handle(), "DETACH DATABASE theirs", nullptr, nullptr, nullptr);
    }
  }

 private:
  explicit Attached(Database& database) : database_(&database) {}
  Database* database_;
};

Result<std::vector<Theirs>> read_theirs(Database& database) {
  std::vector<Theirs> all;
  Result<void> done = database.each(
      "SELECT t.run, t.status, t.rounds_done, t.version, t.model_file, t.dataset, t.rule,"
      " t.attack, t.seed, o.run, o.status, o.rounds_done, o.version, o.owner,"
      " (julianday('now') - julianday(o.written)) * 86400"
      " FROM theirs.runs AS t LEFT JOIN main.runs AS o ON o.config = t.config AND o.data = t.data"
      " ORDER BY t.run",
      {}, [&](Row& row) {
        Theirs& run = all.emplace_back();
        run.run = row.integer();
        run.status = row.text();
        run.rounds_done = row.small();
        run.version = row.text();
        run.model_file = row.text();
        const std::string dataset = row.text();
        const std::string rule = row.text();
        const std::string attack = row.text();
        run.what = fmt::format("{}  {}  {}  seed {}", dataset, rule, attack, row.integer());
        run.ours = row.integer();
        run.our_status = row.text();
        run.our_rounds = row.small();
        run.our_version = row.text();
        run.our_owner = row.text();
        run.our_idle = row.maybe_number().value_or(INFINITY);
        return Result<void>();
      });
  if (!done) return done.error();
  return all;
}

// The first evaluation in which two finished runs differ by more than rounding. A round that only
// one of them evaluated is a difference too.
Result<std::optional<Contradiction>> difference(Database& database, const Theirs& run) {
  std::optional<Contradiction> found;
  Result<void> done = database.each(
      "SELECT round, max(ours), max(theirs) FROM ("
      " SELECT round, accuracy AS ours, NULL AS theirs FROM main.evaluations WHERE run = ?1"
      " UNION ALL SELECT round, NULL, accuracy FROM theirs.evaluations WHERE run = ?2)"
      " GROUP BY round ORDER BY round",
      {run.ours, run.run}, [&](Row& row) {
        if (found) return Result<void>();
        Contradiction each{.ours = run.ours, .theirs = run.run, .what = run.what};
        each.round = row.small();
        each.accuracy_ours = row.number();
        each.accuracy_theirs = row.number();
        const double apart = std::abs(each.accuracy_ours - each.accuracy_theirs);
        if (!(apart <= kRounding)) found = each;
        return Result<void>();
      });
  if (!done) return done.error();
  return found;
}

enum class Action : std::uint8_t { kNothing, kCopy, kReplace };

// Decides how to import a run, and counts it in the report.
Result<Action> decide(Database& database, const Theirs& run, ImportReport& report) {
  if (run.ours == 0) {
    ++report.copied;
    return Action::kCopy;
  }
  const bool finished = run.status == "finished";
  const bool our_finished = run.our_status == "finished";
  if (finished && our_finished) {
    Result<std::optional<Contradiction>> apart = difference(database, run);
    if (!apart) return apart.error();
    if (!*apart) {
      ++report.identical;
    } else if (run.version != run.our_version) {
      ++report.other;
    } else {
      report.contradictions.push_back(**apart);
    }
    return Action::kNothing;
  }
  if (our_finished || (!finished && run.rounds_done <= run.our_rounds)) {
    ++report.not_further;
    return Action::kNothing;
  }
  if (run.our_status == "running" && is_alive(run.our_owner, run.our_idle)) {
    ++report.busy;
    return Action::kNothing;
  }
  ++report.replaced;
  return Action::kReplace;
}

// The path of their model, relative to the folder of this database.
std::string model_path(const std::string& model_file, const fs::path& from, const fs::path& into) {
  if (model_file.empty()) return "";
  std::error_code failure;
  const fs::path theirs = fs::weakly_canonical(from, failure).parent_path() / model_file;
  const fs::path folder = fs::weakly_canonical(into, failure).parent_path();
  return theirs.lexically_relative(folder).string();
}

Result<void> copy_run(Database& database, const Theirs& run, const std::string& model) {
  // A run that another machine is training becomes stopped here; it can resume from its checkpoint.
  Result<void> done = database.run(
      fmt::format("INSERT INTO main.runs ({0}, status, model_file)"
                  " SELECT {0}, iif(status = 'running', 'stopped', status), nullif(?2, '')"
                  " FROM theirs.runs WHERE run = ?1",
                  kRunColumns),
      {run.run, model});
  if (!done) return done;
  Result<std::int64_t> id = database.integer("SELECT last_insert_rowid()");
  if (!id) return id.error();
  for (const Part& part : kParts) {
    done = database.run(fmt::format("INSERT INTO main.{0} (run, {1}) SELECT ?2, {1} FROM"
                                    " theirs.{0} WHERE run = ?1",
                                    part.table, part.columns),
                        {run.run, *id});
    if (!done) return done;
  }
  return {};
}

Result<std::size_t> copy_measurements(Database& database) {
  std::vector<std::int64_t> missing;
  Result<void> done = database.each(
      "SELECT t.measurement FROM theirs.measurements AS t WHERE NOT EXISTS (SELECT 1 FROM"
      " main.measurements AS o WHERE o.experiment = t.experiment AND o.config = t.config"
      " AND o.data = t.data AND o.seed = t.seed) ORDER BY t.measurement",
      {}, [&](Row& row) {
        missing.push_back(row.integer());
        return Result<void>();
      });
  for (std::size_t i = 0; done && i < missing.size(); ++i) {
    done = database.run(
        "INSERT INTO main.measurements (experiment, config, data, seed, version, machine, seconds,"
        " created) SELECT experiment, config, data, seed, version, machine, seconds, created"
        " FROM theirs.measurements WHERE measurement = ?",
        {missing[i]});
    if (!done) break;
    Result<std::int64_t> id = database.integer("SELECT last_insert_rowid()");
    if (!id) return id.error();
    done = database.run(
        "INSERT INTO main.points SELECT ?2, series, number, x, y FROM theirs.points"
        " WHERE measurement = ?1",
        {missing[i], *id});
  }
  if (!done) return done.error();
  return missing.size();
}

Result<ImportReport> take_over(Database& database, const fs::path& into, const fs::path& from,
                               ImportMode mode) {
  ImportReport report;
  Result<std::vector<Theirs>> runs = read_theirs(database);
  if (!runs) return runs.error();
  std::vector<std::pair<const Theirs*, Action>> plan;
  for (const Theirs& run : *runs) {
    Result<Action> action = decide(database, run, report);
    if (!action) return action.error();
    if (*action != Action::kNothing) plan.emplace_back(&run, *action);
  }
  if (!report.contradictions.empty() && mode == ImportMode::kRefuse) return report;
  for (const auto& step : plan) {
    const Theirs& run = *step.first;
    Result<void> done;
    if (step.second == Action::kReplace) {
      done = database.run("DELETE FROM main.runs WHERE run = ?", {run.ours});
    }
    if (done) done = copy_run(database, run, model_path(run.model_file, from, into));
    if (!done) return done.error();
  }
  Result<std::size_t> measurements = copy_measurements(database);
  if (!measurements) return measurements.error();
  report.measurements = *measurements;
  report.written = true;
  return report;
}

// Reads every table and index to its end, which fails if its pages form a cycle. The check below
// needs that, because it follows the pages of a tree recursively.
Result<void> check_trees(Database& database) {
  std::vector<std::string> scans;
  Result<void> done = database.each(
      "SELECT type, name, tbl_name FROM sqlite_schema WHERE type IN ('table', 'index')", {},
      [&](Row& row) {
        const bool index = row.text() == "index";
        const std::string name = row.text();
        scans.push_back(fmt::format("SELECT sum(1) FROM {} {}", row.text(),
                                    index ? "INDEXED BY " + name : "NOT INDEXED"));
        return Result<void>();
      });
  for (std::size_t i = 0; done && i < scans.size(); ++i) done = database.run(scans[i]);
  return done;
}

// Checks the whole file first, because a fault found during the import would stop it half way.
Result<void> check_whole(Database& database) {
  if (Result<void> done = check_trees(database); !done) return done;
  std::string fault;
  Result<void> done = database.each("PRAGMA quick_check(1)", {}, [&](Row& row) {
    fault = row.text();
    return Result<void>();
  });
  if (!done) return done;
  if (fault == "ok") return {};
  return Error{ErrorCode::kIo, printable(fmt::format("{}: damaged: {}", database.file(), fault))};
}

}  // namespace

Result<ImportReport> import_results(Database& into, const fs::path& into_file, const fs::path& from,
                                    ImportMode mode) {
  std::error_code ignored;
  if (fs::equivalent(into_file, from, ignored)) {
    return invalid_argument(fmt::format("{} is the database itself", from.string()));
  }
  Result<std::string> uri = std::string();
  {
    // Opened once like any database: refused if it is not one, migrated if it is old.
    Result<Database> theirs = open_database(from, OpenMode::kExisting);
    if (!theirs) return theirs.error();
    if (Result<void> whole = check_whole(*theirs); !whole) return whole.error();
    uri = uri_of(from, access_to(from, OpenMode::kExisting));
    if (!uri) return uri.error();
  }
  Result<Attached> attached = Attached::attach(into, *uri);
  if (!attached) return attached.error();
  into.work_limit().add_file(from);
  Result<Transaction> transaction = Transaction::begin(into);
  if (!transaction) return transaction.error();
  // Once more: the file may be another one by now.
  if (Result<void> known = check_identity(into, "theirs"); !known) return known.error();
  Result<ImportReport> report = take_over(into, into_file, from, mode);
  if (!report || !report->written) return report;
  if (Result<void> done = transaction->commit(); !done) return done.error();
  return report;
}

}  // namespace boba::sim::store
