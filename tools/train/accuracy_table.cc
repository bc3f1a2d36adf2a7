#include "tools/train/accuracy_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "boba/text/table.h"
#include "simulator/report/settings.h"

namespace boba::tools {

using sim::report::Statistics;

namespace {

constexpr const char* kNoAttack = "none";
constexpr const char* kNoValue = "-";

using Settings = std::map<std::string, std::string>;

// The keys of a run that could tell it from another one of the same rule, attack and seed.
Settings settings_of(const sim::RunRecord& run) {
  Settings settings;
  for (const auto& [key, value] : sim::report::config_of(run.header)) settings[key] = value;
  for (const char* axis : {"rule", "attack", "seed"}) settings.erase(axis);
  // What a run has no use for says nothing about it.
  if (run.header.attack == kNoAttack) settings.erase("federation.byzantine");
  const auto server = settings.find("server.per_class");
  if (server != settings.end() && server->second == "0") settings.erase(server);
  return settings;
}

std::vector<std::string> varying_keys(const std::vector<Settings>& settings) {
  std::map<std::string, std::set<std::string>> values;
  for (const Settings& each : settings) {
    for (const auto& entry : each) values[entry.first].insert(entry.second);
  }
  std::vector<std::string> keys;
  for (const auto& entry : values) {
    if (entry.second.size() > 1) keys.push_back(entry.first);
  }
  return keys;
}

std::vector<std::string> values_of(const Settings& settings, const std::vector<std::string>& keys) {
  std::vector<std::string> values;
  for (const std::string& key : keys) {
    const auto found = settings.find(key);
    values.push_back(found == settings.end() ? kNoValue : found->second);
  }
  return values;
}

std::size_t attack_place(std::vector<std::string>& attacks, const std::string& attack) {
  const auto found = std::find(attacks.begin(), attacks.end(), attack);
  const auto place = static_cast<std::size_t>(found - attacks.begin());
  if (found == attacks.end()) attacks.push_back(attack);
  return place;
}

std::size_t row_place(std::vector<AccuracyRow>& rows, const std::string& rule,
                      const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].rule == rule && rows[i].values == values) return i;
  }
  rows.push_back({rule, values, {}});
  return rows.size() - 1;
}

std::string cell_text(const Statistics& cell) {
  if (cell.count == 0) return kNoValue;
  if (cell.count == 1) return fmt::format("{:.2f}", cell.mean);
  return fmt::format("{:.2f} ±{:.2f}", cell.mean, cell.deviation);
}

}  // namespace

std::optional<double> AccuracyTable::worst(std::size_t row) const {
  std::optional<double> worst;
  for (std::size_t k = 0; k < attacks.size(); ++k) {
    if (attacks[k] == kNoAttack) continue;
    const Statistics& cell = rows[row].cells[k];
    if (cell.count == 0) return std::nullopt;
    worst = worst ? std::min(*worst, cell.mean) : cell.mean;
  }
  return worst;
}

AccuracyTable accuracy_table(std::span<const sim::RunRecord> runs) {
  std::vector<Settings> settings;
  for (const sim::RunRecord& run : runs) settings.push_back(settings_of(run));
  AccuracyTable table;
  table.keys = varying_keys(settings);
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> values;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t row =
        row_place(table.rows, runs[i].header.rule, values_of(settings[i], table.keys));
    const std::size_t attack = attack_place(table.attacks, runs[i].header.attack);
    if (runs[i].status != sim::RunStatus::kFinished || !runs[i].accuracy) continue;
    values[{row, attack}].push_back(100 * *runs[i].accuracy);
  }
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t attack = 0; attack < table.attacks.size(); ++attack) {
      table.rows[row].cells.push_back(sim::report::statistics_of(values[{row, attack}]));
    }
  }
  return table;
}

std::string to_text(const AccuracyTable& table) {
  std::vector<Table::Column> columns = {{"rule", Align::kLeft}};
  for (const std::string& key : table.keys) columns.push_back({key, Align::kRight});
  for (const std::string& attack : table.attacks) columns.push_back({attack, Align::kRight});
  const bool several = table.attacks.size() > 1;
  if (several) columns.push_back({"worst", Align::kRight});
  Table text(std::move(columns));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::vector<std::string> cells = {table.rows[i].rule};
    for (const std::string& value : table.rows[i].values) cells.push_back(value);
    for (const Statistics& cell : table.rows[i].cells) cells.push_back(cell_text(cell));
    const auto worst = table.worst(i);
    if (several) cells.push_back(worst ? fmt::format("{:.2f}", *worst) : kNoValue);
    text.add(std::move(cells));
  }
  return text.text();
}

}  // namespace boba::tools
