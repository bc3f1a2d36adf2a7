#include "simulator/store/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "boba/core/spec.h"
#include "boba/text/split.h"
#include "simulator/store/records.h"

namespace boba::sim::store {
namespace {

constexpr double kMostCount = 1e15;
constexpr double kLargest = 1e300;

// What conditions ask of a run. Counts are numbers too: rounds>=1e3 is a condition.
struct RunKeys {
  double run = 0;
  std::string name;
  RunStatus status = RunStatus::kWaiting;
  std::string dataset;
  std::string partition;
  std::string model;
  std::string algorithm;
  std::string rule;
  std::string attack;
  double honest = 0;
  double byzantine = 0;
  std::uint64_t seed = 0;
  double rounds = 0;
  double rounds_done = 0;
  double accuracy = 0;
  double loss = 0;
  double mrd = 0;
  double seconds = 0;
  double parameters = 0;
  std::string version;
  std::string gpu;
  std::string created;
  std::string finished;
  std::string config;
  std::string error;

  static constexpr auto fields() {
    using K = RunKeys;
    return std::tuple{
        field("run", &K::run, "number of the run").between(0, kMostCount),
        field("name", &K::name, "name of the experiment file"),
        field("status", &K::status, "state of the run").one_of(kRunStatuses),
        field("dataset", &K::dataset, "data set"),
        field("partition", &K::partition, "how the examples are dealt to clients"),
        field("model", &K::model, "model"),
        field("algorithm", &K::algorithm, "algorithm of the clients"),
        field("rule", &K::rule, "rule, with its stages"),
        field("attack", &K::attack, "attack, or none"),
        field("honest", &K::honest, "honest clients").between(0, kMostCount),
        field("byzantine", &K::byzantine, "Byzantine clients").between(0, kMostCount),
        field("seed", &K::seed, "seed"),
        field("rounds", &K::rounds, "rounds in the experiment").between(0, kMostCount),
        field("rounds_done", &K::rounds_done, "rounds finished").between(0, kMostCount),
        field("accuracy", &K::accuracy, "accuracy of the last evaluation").between(0, 1),
        field("loss", &K::loss, "loss of the last evaluation").between(-kLargest, kLargest),
        field("mrd", &K::mrd, "largest drop of a class's recall against the baseline")
            .between(0, 1),
        field("seconds", &K::seconds, "time spent in its rounds").between(0, kLargest),
        field("parameters", &K::parameters, "parameters of the model").between(0, kMostCount),
        field("version", &K::version, "version of boba, and the GPU"),
        field("gpu", &K::gpu, "name of the GPU; empty for the processor"),
        field("created", &K::created, "time the run was added: 2026-03-01T12:00:00Z"),
        field("finished", &K::finished, "time it finished"),
        field("config", &K::config, "canonical text of the experiment"),
        field("error", &K::error, "why the run failed")};
  }
};

// Texts that a spec's name alone can stand for.
constexpr std::string_view kSpecs[] = {"dataset", "partition", "model", "rule", "attack"};
// Texts that have an order.
constexpr std::string_view kTimes[] = {"created", "finished"};
// Columns that the view does not have under the key's name.
constexpr std::pair<std::string_view, std::string_view> kColumns[] = {
    {"status", "status_now"}, {"gpu", "runs.gpu"}, {"config", "runs.config"}};

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Key {
  OptionInfo info;
  std::function<Result<Operand>(std::string_view text)> read = {};

  const std::string& name() const { return info.name; }
  bool is_number() const { return info.type == "integer" || info.type == "number"; }
  bool is_share() const { return is_number() && info.high == 1; }
  std::string column() const {
    for (const auto& [key, column] : kColumns) {
      if (key == name()) return std::string(column);
    }
    return "results." + name();
  }
};

template <class T>
Operand operand_of(const T& value, std::string_view text) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return std::string(text);
  }
}

std::vector<Key> make_keys() {
  std::vector<Key> all;
  const std::vector<OptionInfo> infos = where_keys();
  auto info = infos.begin();
  detail::each_field<RunKeys>([&](const auto& f) {
    all.push_back({*info++, [=](std::string_view text) -> Result<Operand> {
                     RunKeys keys;
                     const Result<void> read = detail::read_field(f, text, keys);
                     if (!read) return read.error();
                     return operand_of(keys.*f.member, text);
                   }});
  });
  return all;
}

// Longer ones first, so that <= is not read as <.
constexpr std::string_view kOperators[] = {"!=", "!~", "<=", ">=", "=", "~", "<", ">"};

struct Condition {
  std::string_view key;
  std::string_view operation;
  std::string_view value;

  bool contains() const { return operation.ends_with('~'); }
  bool orders() const { return operation[0] == '<' || operation[0] == '>'; }
  std::string text() const { return fmt::format("{}{}{}", key, operation, value); }
};

Result<Condition> parse_condition(std::string_view text) {
  const std::size_t place = text.find_first_of("!=~<>");
  for (const std::string_view operation : kOperators) {
    if (place == text.npos || !text.substr(place).starts_with(operation)) continue;
    return Condition{trimmed(text.substr(0, place)), operation,
                     trimmed(text.substr(place + operation.size()))};
  }
  return invalid_argument(
      fmt::format("where: '{}' is no condition; write one like rule=boba, attack~ipm or "
                  "accuracy>=0.9, several with commas between",
                  trimmed(text)));
}

Result<const Key*> find_key(std::string_view name) {
  static const std::vector<Key> keys = make_keys();
  std::vector<std::string_view> names;
  for (const Key& each : keys) {
    if (each.name() == name) return &each;
    names.push_back(each.name());
  }
  return invalid_argument("where: " + unknown_name("key", name, names).message);
}

// Why the value cannot be compared with the key's, with what would do.
Error unreadable(const Condition& condition, const Key& key, const Error& why) {
  std::string help;
  if (key.is_share()) {
    // Tables show percent.
    help = "; write 0.9 for 90 %";
  } else if (key.is_number()) {
    help = fmt::format("; write {0}=3 or {0}<=3", key.name());
  }
  return invalid_argument(fmt::format("where: '{}': {}{}", condition.text(), why.message, help));
}

// The column, its operator and a place for the operand; text from the user goes there only.
std::string text_sql(const Key& key, const Condition& condition) {
  const bool negated = condition.operation.starts_with('!');
  const std::string column = key.column();
  std::string sql;
  if (condition.contains()) {
    sql = fmt::format("instr(lower({0}), lower(?)) > 0", column);
  } else if (is_in(kSpecs, key.name())) {
    // "boba" is the whole text, or all of it before the first bracket or space.
    sql = fmt::format("? IN ({0}, substr({0}, 1, instr(replace({0}, ' ', '(') || '(', '(') - 1))",
                      column);
  } else {
    sql = fmt::format("{} {} ?", column, negated ? "=" : condition.operation);
  }
  return fmt::format("{}coalesce({}, 0)", negated ? "NOT " : "", sql);
}

Result<void> add(const Condition& condition, Where& where) {
  const Result<const Key*> found = find_key(condition.key);
  if (!found) return found.error();
  const Key& key = **found;
  if (key.is_number() && condition.contains()) {
    return invalid_argument(
        fmt::format("where: {0} is a number; use {0}=, {0}!=, {0}<, {0}<=, {0}> or {0}>= instead "
                    "of {1}",
                    key.name(), condition.operation));
  }
  if (!key.is_number() && condition.orders() && !is_in(kTimes, key.name())) {
    return invalid_argument(
        fmt::format("where: {0} is a text; use {0}=, {0}!= or {0}~ instead of {1}", key.name(),
                    condition.operation));
  }
  // Texts are compared as they are; those of a choice must be one of it to be equal.
  if (key.info.type == "text" || condition.contains()) {
    where.operands.emplace_back(std::string(condition.value));
  } else {
    Result<Operand> value = key.read(condition.value);
    if (!value) return unreadable(condition, key, value.error());
    where.operands.push_back(*std::move(value));
  }
  where.sql += key.is_number() ? fmt::format(" AND {} {} ?", key.column(), condition.operation)
                               : " AND " + text_sql(key, condition);
  return {};
}

}  // namespace

std::vector<OptionInfo> where_keys() { return describe<RunKeys>(); }

std::vector<Value> Where::values() const {
  std::vector<Value> values;
  for (const auto& operand : operands) {
    values.push_back(std::visit([](const auto& value) { return Value(value); }, operand));
  }
  return values;
}

Result<Where> parse_where(std::string_view text) {
  Where where;
  where.sql = "1";
  if (trimmed(text).empty()) return where;
  for (const std::string_view part : split_specs(text)) {
    Result<Condition> condition = parse_condition(part);
    if (!condition) return condition.error();
    if (Result<void> added = add(*condition, where); !added) return added.error();
  }
  return where;
}

}  // namespace boba::sim::store
