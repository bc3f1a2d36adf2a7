#include "simulator/store/write.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "simulator/store/json_text.h"

namespace boba::sim::store {
namespace {

// Only the process that holds the run writes; noting the time shows other hosts that it lives.
Result<void> hold(Database& database, std::int64_t run, const std::string& owner) {
  Result<void> done = database.run(
      "UPDATE runs SET written = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
      " WHERE run = ? AND owner = ? AND status = 'running'",
      {run, owner});
  if (!done) return done;
  if (database.changes() == 1) return {};
  return invalid_argument(
      fmt::format("{}: run {} is not held by this process; claim it first", database.file(), run));
}

Result<void> insert_clients(Database& database, std::int64_t run,
                            std::span<const ClientRecord> clients) {
  Result<Statement> client = database.prepare("INSERT INTO clients VALUES (?, ?, ?, ?)");
  if (!client) return client.error();
  Result<Statement> count = database.prepare("INSERT INTO label_counts VALUES (?, ?, ?, ?)");
  if (!count) return count.error();
  for (const ClientRecord& record : clients) {
    const Value corruption = record.corruption.empty() ? Value(nullptr) : Value(record.corruption);
    Result<void> done = client->run({run, record.client, record.honest ? 1 : 0, corruption});
    for (std::size_t k = 0; done && k < record.labels.size(); ++k) {
      done = count->run(
          {run, record.client, static_cast<int>(k), static_cast<std::int64_t>(record.labels[k])});
    }
    if (!done) return done;
  }
  return {};
}

double seconds_of(const RoundRecord& record) {
  double sum = 0;
  for (double part : {record.train_seconds, record.attack_seconds, record.aggregate_seconds,
                      record.evaluate_seconds}) {
    if (std::isfinite(part)) sum += part;
  }
  return sum;
}

Result<void> insert_round(Database& database, std::int64_t run, const RoundRecord& record) {
  const std::string participants = json_list(record.participants);
  return database.run(
      "INSERT INTO rounds (run, round, learning_rate, train_seconds, attack_seconds,"
      " aggregate_seconds, evaluate_seconds, update_norm, participants, rejected, false_accepts,"
      " false_rejects, label_error, fits, note)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {run, record.round, record.learning_rate, record.train_seconds, record.attack_seconds,
       record.aggregate_seconds, record.evaluate_seconds, record.update_norm,
       record.participants.empty() ? Value(nullptr) : Value(participants),
       json_list(record.rejected), record.false_accepts, record.false_rejects, record.label_error,
       record.fits, record.note.empty() ? Value(nullptr) : Value(record.note)});
}

Result<void> insert_evaluation(Database& database, std::int64_t run,
                               const EvaluationRecord& record) {
  Result<void> done = database.run(
      "INSERT OR REPLACE INTO evaluations (run, round, loss, accuracy, confusion)"
      " VALUES (?, ?, ?, ?, ?)",
      {run, record.round, record.loss, record.accuracy, json_list(record.confusion)});
  if (!done) return done;
  Result<Statement> recall = database.prepare("INSERT OR REPLACE INTO recalls VALUES (?, ?, ?, ?)");
  if (!recall) return recall.error();
  for (std::size_t k = 0; done && k < record.recall.size(); ++k) {
    done = recall->run({run, record.round, static_cast<int>(k), record.recall[k]});
  }
  return done;
}

Result<void> insert_round_entry(Database& database, std::int64_t run, const RoundEntry& entry) {
  Result<void> done = insert_round(database, run, entry.round);
  if (done && entry.evaluation) done = insert_evaluation(database, run, *entry.evaluation);
  if (done && entry.estimate) {
    done = database.run("INSERT OR REPLACE INTO estimates VALUES (?, ?, ?, ?)",
                        {run, entry.estimate->round, json_list(entry.estimate->clients),
                         json_table(entry.estimate->shares)});
  }
  if (done && !entry.checkpoint.empty()) {
    done = database.run("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)",
                        {run, entry.round.round, Value::Bytes{entry.checkpoint}});
  }
  if (!done) return done;
  return database.run("UPDATE runs SET rounds_done = ?, seconds = seconds + ? WHERE run = ?",
                      {entry.round.round, seconds_of(entry.round), run});
}

Result<void> insert_points(Database& database, std::int64_t id,
                           const std::vector<MeasuredPoint>& points) {
  Result<Statement> insert = database.prepare("INSERT INTO points VALUES (?, ?, ?, ?, ?)");
  if (!insert) return insert.error();
  std::map<std::string, std::int64_t> numbers;
  for (const MeasuredPoint& point : points) {
    const std::int64_t number = numbers[point.series]++;
    if (Result<void> done = insert->run({id, point.series, number, point.x, point.y}); !done) {
      return done;
    }
  }
  return {};
}

}  // namespace

Result<std::int64_t> add_run(Database& database, const RunHeader& header) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  // A seed beyond the largest signed number is stored as the negative one with the same bits.
  Result<void> added = database.run(
      "INSERT INTO runs (name, config, data, baseline, dataset, partition, model, algorithm, rule,"
      " attack, honest, byzantine, seed, rounds, parameters, classes, version, gpu, created)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''),"
      " strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) ON CONFLICT (config, data) DO NOTHING",
      {header.name, header.config, header.data, header.baseline, header.dataset, header.partition,
       header.model, header.algorithm, header.rule, header.attack, header.honest, header.byzantine,
       static_cast<std::int64_t>(header.seed), header.rounds,
       static_cast<std::int64_t>(header.parameters), json_list(header.classes), header.version,
       header.gpu});
  if (!added) return added.error();
  Result<std::int64_t> run = database.integer("SELECT run FROM runs WHERE config = ? AND data = ?",
                                              {header.config, header.data});
  if (!run) return run;
  if (Result<void> done = transaction->commit(); !done) return done.error();
  return run;
}

Result<void> write_clients(Database& database, std::int64_t run, const std::string& owner,
                           std::span<const ClientRecord> clients) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  Result<void> done = hold(database, run, owner);
  if (done) done = database.run("DELETE FROM clients WHERE run = ?", {run});
  if (done) done = database.run("DELETE FROM label_counts WHERE run = ?", {run});
  if (done) done = insert_clients(database, run, clients);
  return done ? transaction->commit() : done;
}

Result<void> write_round(Database& database, std::int64_t run, const std::string& owner,
                         const RoundEntry& entry) {
  if (entry.round.round < 1) {
    return invalid_argument(fmt::format("rounds count from 1; got {}", entry.round.round));
  }
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  Result<void> done = hold(database, run, owner);
  if (done) done = forget_from(database, run, entry.round.round);
  if (done) done = insert_round_entry(database, run, entry);
  return done ? transaction->commit() : done;
}

Result<void> end_run(Database& database, std::int64_t run, const std::string& owner,
                     const Ending& ending) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  Result<void> done = hold(database, run, owner);
  const bool finished = ending.status == RunStatus::kFinished;
  if (done && finished) done = database.run("DELETE FROM checkpoints WHERE run = ?", {run});
  if (done) {
    done = database.run(
        "UPDATE runs SET status = ?, owner = NULL, error = nullif(?, ''),"
        " model_file = nullif(?, ''), finished = iif(?, written, NULL) WHERE run = ?",
        {name(ending.status), ending.error, ending.model_file, finished ? 1 : 0, run});
  }
  return done ? transaction->commit() : done;
}

Result<void> forget_from(Database& database, std::int64_t run, int round) {
  Result<void> done;
  for (const char* sql : {"DELETE FROM evaluations WHERE run = ? AND round >= ?",
                          "DELETE FROM recalls WHERE run = ? AND round >= ?",
                          "DELETE FROM estimates WHERE run = ? AND round >= ?",
                          "DELETE FROM rounds WHERE run = ? AND round >= ?"}) {
    done = database.run(sql, {run, round});
    if (!done) return done;
  }
  if (database.changes() == 0) return {};
  return database.run(
      "UPDATE runs SET rounds_done = min(rounds_done, ?2 - 1), seconds ="
      " (SELECT total(coalesce(train_seconds, 0) + coalesce(attack_seconds, 0)"
      " + coalesce(aggregate_seconds, 0) + coalesce(evaluate_seconds, 0))"
      " FROM rounds WHERE run = ?1) WHERE run = ?1",
      {run, round});
}

Result<void> write_measurement(Database& database, const MeasurementRecord& measurement) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  const auto seed = static_cast<std::int64_t>(measurement.seed);
  Result<void> done = database.run(
      "DELETE FROM measurements WHERE experiment = ? AND config = ? AND data = ? AND seed = ?",
      {measurement.experiment, measurement.config, measurement.data, seed});
  if (done) {
    done = database.run(
        "INSERT INTO measurements (experiment, config, data, seed, version, machine, seconds,"
        " created) VALUES (?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
        {measurement.experiment, measurement.config, measurement.data, seed, measurement.version,
         measurement.machine, measurement.seconds});
  }
  if (!done) return done;
  Result<std::int64_t> id = database.integer("SELECT last_insert_rowid()");
  if (!id) return id.error();
  done = insert_points(database, *id, measurement.points);
  return done ? transaction->commit() : done;
}

}  // namespace boba::sim::store
