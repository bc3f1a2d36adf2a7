#include <fmt/format.h>

#include <limits>

#include "simulator/store/owner.h"
#include "simulator/store/write.h"

namespace boba::sim::store {
namespace {

struct Found {
  bool exists = false;
  std::string status;
  std::string owner;
  double idle = 0;
};

Result<Found> look_at(Database& database, std::int64_t run) {
  Found found;
  Result<void> done = database.each(
      "SELECT status, owner, (julianday('now') - julianday(written)) * 86400"
      " FROM runs WHERE run = ?",
      {run}, [&](Row& row) {
        found.exists = true;
        found.status = row.text();
        found.owner = row.text();
        found.idle = row.maybe_number().value_or(std::numeric_limits<double>::infinity());
        return Result<void>();
      });
  if (!done) return done.error();
  return found;
}

Result<void> forget_all(Database& database, std::int64_t run) {
  Result<void> done = forget_from(database, run, std::numeric_limits<int>::min());
  for (const char* sql :
       {"DELETE FROM clients WHERE run = ?", "DELETE FROM label_counts WHERE run = ?",
        "DELETE FROM checkpoints WHERE run = ?",
        "UPDATE runs SET rounds_done = 0, seconds = 0 WHERE run = ?"}) {
    if (done) done = database.run(sql, {run});
  }
  return done;
}

// What was written after the checkpoint will be computed again.
Result<void> return_to_checkpoint(Database& database, std::int64_t run) {
  Result<std::int64_t> round =
      database.integer("SELECT max(round) FROM checkpoints WHERE run = ?", {run});
  if (!round) return round.error();
  if (*round == 0) return forget_all(database, run);
  return forget_from(database, run, static_cast<int>(*round) + 1);
}

Result<void> take(Database& database, std::int64_t run, const std::string& owner,
                  const std::string& version) {
  return database.run(
      "UPDATE runs SET status = 'running', owner = ?, error = NULL, finished = NULL,"
      " model_file = NULL, version = coalesce(nullif(?, ''), version),"
      " written = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE run = ?",
      {owner, version, run});
}

}  // namespace

Result<ClaimOutcome> claim(Database& database, std::int64_t run, ClaimMode mode,
                           const std::string& owner, const std::string& version) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  Result<Found> found = look_at(database, run);
  if (!found) return found.error();
  if (!found->exists) {
    return invalid_argument(fmt::format("{}: there is no run {}", database.file(), run));
  }
  if (found->status == "running" && is_alive(found->owner, found->idle)) {
    return ClaimOutcome::kBusy;
  }
  const bool started = found->status != "waiting";
  if (found->status == "finished" && mode != ClaimMode::kRestart) return ClaimOutcome::kFinished;
  if (started && mode == ClaimMode::kNew) return ClaimOutcome::kUnfinished;
  Result<void> done;
  if (started) {
    done = mode == ClaimMode::kRestart ? forget_all(database, run)
                                       : return_to_checkpoint(database, run);
  }
  if (done) done = take(database, run, owner, version);
  if (done) done = transaction->commit();
  if (!done) return done.error();
  return ClaimOutcome::kClaimed;
}

}  // namespace boba::sim::store
