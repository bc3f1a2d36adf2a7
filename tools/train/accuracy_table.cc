#include "tools/train/accuracy_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tools/table.h"

namespace boba::tools {
namespace {

std::size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto place = static_cast<std::size_t>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return place;
}

AccuracyCell summarise(const std::vector<double>& values) {
  AccuracyCell cell;
  cell.runs = values.size();
  if (values.empty()) return cell;
  for (const double value : values) cell.mean += value / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - cell.mean) * (value - cell.mean);
  if (values.size() > 1) cell.deviation = std::sqrt(sum / static_cast<double>(values.size() - 1));
  return cell;
}

std::string cell_text(const AccuracyCell& cell) {
  if (cell.runs == 0) return "-";
  if (cell.runs == 1) return fmt::format("{:.2f}", cell.mean);
  return fmt::format("{:.2f} ±{:.2f}", cell.mean, cell.deviation);
}

}  // namespace

double AccuracyTable::worst(std::size_t rule) const {
  double worst = 100;
  for (const AccuracyCell& cell : cells[rule]) {
    if (cell.runs > 0) worst = std::min(worst, cell.mean);
  }
  return worst;
}

AccuracyTable accuracy_table(std::span<const RunRecord> runs) {
  AccuracyTable table;
  for (const RunRecord& run : runs) {
    place_of(table.rules, run.header.rule);
    place_of(table.attacks, run.header.attack);
  }
  std::vector<std::vector<std::vector<double>>> values(
      table.rules.size(), std::vector<std::vector<double>>(table.attacks.size()));
  for (const RunRecord& run : runs) {
    if (run.status != RunStatus::kFinished || !run.accuracy) continue;
    values[place_of(table.rules, run.header.rule)][place_of(table.attacks, run.header.attack)]
        .push_back(100 * *run.accuracy);
  }
  for (const auto& row : values) {
    auto& cells = table.cells.emplace_back();
    for (const auto& cell : row) cells.push_back(summarise(cell));
  }
  return table;
}

std::string to_text(const AccuracyTable& table) {
  std::vector<Table::Column> columns = {{"rule", Align::kLeft}};
  for (const std::string& attack : table.attacks) columns.push_back({attack, Align::kRight});
  const bool several = table.attacks.size() > 1;
  if (several) columns.push_back({"worst", Align::kRight});
  Table text(std::move(columns));
  for (std::size_t i = 0; i < table.rules.size(); ++i) {
    std::vector<std::string> cells = {table.rules[i]};
    for (const AccuracyCell& cell : table.cells[i]) cells.push_back(cell_text(cell));
    if (several) cells.push_back(fmt::format("{:.2f}", table.worst(i)));
    text.add(std::move(cells));
  }
  return text.text();
}

}  // namespace boba::tools
