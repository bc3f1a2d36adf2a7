#include "simulator/store/claim.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "simulator/store/write.h"

namespace boba::sim::store {
namespace {

constexpr double kPatience = 600;

struct Owner {
  std::string host;
  long pid = 0;
  // Empty: not known.
  std::string start;
  std::string space;  // of process numbers
  std::string boot;
};

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.data();
}

// What /proc says of a process: its state letter, and its start in clock ticks since the machine
// started. Both are empty where there is no such process, or no /proc.
std::pair<std::string, std::string> state_and_start(long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The second field is the program's name in brackets and may hold anything, brackets too.
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream words(text.substr(end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
  constexpr std::size_t kState = 3 - 3;
  constexpr std::size_t kStart = 22 - 3;
  if (fields.size() <= kStart) return {};
  return {fields[kState], fields[kStart]};
}

// Process numbers of two containers of one host mean different processes.
std::string number_space() {
  std::error_code unknown;
  const auto link = std::filesystem::read_symlink("/proc/self/ns/pid", unknown);
  return unknown ? "" : link.string();
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return text;
}

std::string text_of(const nlohmann::json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

bool differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}

std::optional<Owner> read_owner(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("host") || !json["host"].is_string()) return std::nullopt;
  if (!json.contains("pid") || !json["pid"].is_number_integer()) return std::nullopt;
  if (!json.contains("start") || !json["start"].is_string()) return std::nullopt;
  return Owner{json["host"], json["pid"], json["start"], text_of(json, "space"),
               text_of(json, "boot")};
}

bool is_running(const Owner& owner) {
  // kill(0) and kill(-1) ask for groups of processes.
  if (owner.pid <= 0 || owner.pid > std::numeric_limits<pid_t>::max()) return false;
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno != EPERM) return false;
  const auto [state, start] = state_and_start(owner.pid);
  // A zombie has ended; only its parent has not asked how.
  if (state == "Z" || state == "X") return false;
  return owner.start.empty() || start.empty() || start == owner.start;
}

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
                  const std::optional<ComputedBy>& by) {
  Result<void> done = database.run(
      "UPDATE runs SET status = 'running', owner = ?, error = NULL, finished = NULL,"
      " model_file = NULL, written = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE run = ?",
      {owner, run});
  if (!done || !by) return done;
  return database.run("UPDATE runs SET version = ?, gpu = nullif(?, '') WHERE run = ?",
                      {by->version, by->gpu, run});
}

}  // namespace

std::string this_process() {
  const long pid = ::getpid();
  const nlohmann::ordered_json json = {{"host", host_name()},
                                       {"pid", pid},
                                       {"start", state_and_start(pid).second},
                                       {"space", number_space()},
                                       {"boot", boot_id()}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

bool is_alive(const std::string& owner, double idle) {
  const std::optional<Owner> known = read_owner(owner);
  if (!known) return false;
  if (known->host != host_name() || differ(known->space, number_space())) return idle < kPatience;
  if (differ(known->boot, boot_id())) return false;
  return is_running(*known);
}

std::string owner_text(const std::string& owner, const std::string& written) {
  const std::optional<Owner> known = read_owner(owner);
  if (!known) return "";
  return fmt::format("{}, process {}, last wrote {}", known->host, known->pid,
                     written.empty() ? "never" : written);
}

Result<ClaimOutcome> claim(Database& database, std::int64_t run, ClaimMode mode,
                           const std::string& owner, const std::optional<ComputedBy>& by) {
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
  if (done) done = take(database, run, owner, by);
  if (done) done = transaction->commit();
  if (!done) return done.error();
  return ClaimOutcome::kClaimed;
}

}  // namespace boba::sim::store
