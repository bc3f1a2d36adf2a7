#include "simulator/store/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

#include "boba/core/spec.h"
#include "boba/text/split.h"

namespace boba::sim::store {
namespace {

enum class Kind : std::uint8_t { kText, kSpec, kTime, kNumber, kShare };

struct Key {
  std::string_view name;
  Kind kind;
  std::string_view column;
};

constexpr Key kKeys[] = {
    {"run", Kind::kNumber, "results.run"},
    {"name", Kind::kText, "results.name"},
    {"status", Kind::kText, "status_now"},
    {"dataset", Kind::kSpec, "results.dataset"},
    {"partition", Kind::kSpec, "results.partition"},
    {"model", Kind::kSpec, "results.model"},
    {"algorithm", Kind::kText, "results.algorithm"},
    {"rule", Kind::kSpec, "results.rule"},
    {"attack", Kind::kSpec, "results.attack"},
    {"honest", Kind::kNumber, "results.honest"},
    {"byzantine", Kind::kNumber, "results.byzantine"},
    {"seed", Kind::kNumber, "results.seed"},
    {"rounds", Kind::kNumber, "results.rounds"},
    {"rounds_done", Kind::kNumber, "results.rounds_done"},
    {"accuracy", Kind::kShare, "results.accuracy"},
    {"loss", Kind::kNumber, "results.loss"},
    {"mrd", Kind::kShare, "results.mrd"},
    {"seconds", Kind::kNumber, "results.seconds"},
    {"parameters", Kind::kNumber, "results.parameters"},
    {"version", Kind::kText, "results.version"},
    {"created", Kind::kTime, "results.created"},
    {"finished", Kind::kTime, "results.finished"},
    {"config", Kind::kText, "runs.config"},
    {"error", Kind::kText, "results.error"},
};

// Longer ones first, so that <= is not read as <.
constexpr std::string_view kOperators[] = {"!=", "!~", "<=", ">=", "=", "~", "<", ">"};

struct Condition {
  std::string_view key;
  std::string_view operation;
  std::string_view value;
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
  const auto* key = std::find_if(std::begin(kKeys), std::end(kKeys),
                                 [&](const Key& each) { return each.name == name; });
  if (key != std::end(kKeys)) return key;
  std::vector<std::string_view> names;
  for (const Key& each : kKeys) names.push_back(each.name);
  return invalid_argument("where: " + unknown_name("key", name, names).message);
}

template <class T>
std::optional<T> read_whole(std::string_view text) {
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A whole number stays one: large seeds are no doubles.
bool read_number(std::string_view text, Where& where) {
  if (const auto integer = read_whole<std::int64_t>(text)) {
    where.operands.emplace_back(*integer);
    return true;
  }
  const auto number = read_whole<double>(text);
  if (!number || !std::isfinite(*number)) return false;
  where.operands.emplace_back(*number);
  return true;
}

// The column, its operator and a place for the operand; text from the user goes there only.
std::string text_sql(const Key& key, std::string_view operation) {
  const bool negated = operation.starts_with('!');
  std::string sql;
  if (operation.ends_with('~')) {
    sql = fmt::format("instr(lower({0}), lower(?)) > 0", key.column);
  } else if (key.kind == Kind::kSpec) {
    // "boba" is the whole text, or all of it before the first bracket or space.
    sql = fmt::format("? IN ({0}, substr({0}, 1, instr(replace({0}, ' ', '(') || '(', '(') - 1))",
                      key.column);
  } else {
    sql = fmt::format("{} {} ?", key.column, negated ? "=" : operation);
  }
  return fmt::format("{}coalesce({}, 0)", negated ? "NOT " : "", sql);
}

Result<void> add(const Condition& condition, Where& where) {
  Result<const Key*> found = find_key(condition.key);
  if (!found) return found.error();
  const Key& key = **found;
  const bool contains = condition.operation.ends_with('~');
  const bool ordered = condition.operation[0] == '<' || condition.operation[0] == '>';
  if (key.kind == Kind::kNumber || key.kind == Kind::kShare) {
    if (contains || !read_number(condition.value, where)) {
      return invalid_argument(
          fmt::format("where: {0} is a number; '{0}{1}{2}' should be like {0}=3 or {0}<=3",
                      key.name, condition.operation, condition.value));
    }
    // Tables show percent; such a condition would fit nothing, or everything, without a word.
    if (key.kind == Kind::kShare && *read_whole<double>(condition.value) > 1) {
      return invalid_argument(
          fmt::format("where: '{0}{1}{2}': {0} is a share from 0 to 1: write 0.9 for 90 %",
                      key.name, condition.operation, condition.value));
    }
    where.sql += fmt::format(" AND {} {} ?", key.column, condition.operation);
    return {};
  }
  if (ordered && key.kind != Kind::kTime) {
    return invalid_argument(
        fmt::format("where: {0} is a text; use {0}=, {0}!= or {0}~ instead of {1}", key.name,
                    condition.operation));
  }
  where.sql += " AND " + text_sql(key, condition.operation);
  where.operands.emplace_back(std::string(condition.value));
  return {};
}

}  // namespace

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
