// Clients: who was accepted, their label mixes, the partition; and the time of a round.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "simulator/report/bar_charts.h"
#include "simulator/report/client_charts.h"
#include "simulator/report/sections.h"
#include "simulator/report/text.h"

namespace boba::sim::report {
namespace {

constexpr std::size_t kMostVerdictPanels = 48;
constexpr std::size_t kMostMixPanels = 8;

constexpr const char* kVerdictLegend =
    "<ul class=\"legend still\" aria-label=\"Verdicts\">"
    "<li><i class=\"chip honest-in\"></i>honest, accepted</li>"
    "<li><i class=\"chip honest-out\"></i>honest, left out (wrong)</li>"
    "<li><i class=\"chip byzantine-in\"></i>Byzantine, accepted (wrong)</li>"
    "<li><i class=\"chip byzantine-out\"></i>Byzantine, left out</li></ul>";

bool leaves_any_out(const std::vector<RoundPoint>& rounds) {
  return std::any_of(rounds.begin(), rounds.end(), [](const RoundPoint& round) {
    return round.honest_left_out + round.byzantine_left_out > 0;
  });
}

struct VerdictRow {
  std::size_t rule = 0;
  std::vector<std::pair<std::string, std::vector<RoundPoint>>> panels;
  bool leaves_out = false;
};

VerdictRow verdicts_of(const Setting& setting, std::size_t rule) {
  VerdictRow row;
  row.rule = rule;
  for (std::size_t attack = 0; attack < setting.attacks.size(); ++attack) {
    std::vector<RoundPoint> rounds = mean_rounds(setting.cell(rule, attack).runs);
    if (rounds.empty()) continue;
    row.leaves_out = row.leaves_out || leaves_any_out(rounds);
    const Axis& axis = setting.attacks[attack];
    row.panels.emplace_back(axis.is_attack() ? axis.label : "no attack", std::move(rounds));
  }
  return row;
}

std::string mix_title(const Setting& setting, std::size_t rule, std::size_t attack) {
  const Axis& axis = setting.attacks[attack];
  return setting.rules[rule].label + ", " + (axis.is_attack() ? axis.label : "no attack");
}

struct PhaseColumn {
  const char* name;
  double PhaseSeconds::*seconds;
};

constexpr PhaseColumn kPhases[] = {
    {"training", &PhaseSeconds::train},
    {"attack", &PhaseSeconds::attack},
    {"aggregation", &PhaseSeconds::aggregate},
    {"evaluation", &PhaseSeconds::evaluate},
};

BarCell time_cell(const std::vector<double>& seconds, const std::string& where) {
  BarCell cell;
  if (seconds.empty()) return cell;
  const Statistics statistics = statistics_of(seconds);
  cell.value = statistics.mean;
  cell.words = duration(statistics.mean);
  cell.tip = fmt::format("{}: {} a round ({} to {} over runs)", where, duration(statistics.mean),
                         duration(statistics.low), duration(statistics.high));
  return cell;
}

std::vector<BarCell> time_row(const Setting& setting, std::size_t rule) {
  std::vector<BarCell> row;
  const std::string label = clip(setting.rules[rule].label, 40);
  std::vector<double> totals;
  for (const PhaseColumn& phase : kPhases) {
    std::vector<double> seconds;
    std::size_t i = 0;
    for (const Cell& cell : setting.cells[rule]) {
      for (const RunData* run : cell.runs) {
        if (!run->phases) continue;
        // Runs without an attack would make attacks look cheap.
        const bool idle =
            phase.seconds == &PhaseSeconds::attack && run->record.header.byzantine == 0;
        const double spent = (*run->phases).*phase.seconds;
        if (!idle) seconds.push_back(spent);
        totals.resize(std::max(totals.size(), i + 1), 0);
        totals[i++] += spent;
      }
    }
    row.push_back(time_cell(seconds, label + ", " + phase.name));
  }
  row.push_back(time_cell(totals, label + ", altogether"));
  return row;
}

}  // namespace

std::optional<Section> verdicts_section(const Setting& setting) {
  std::string body = kVerdictLegend;
  std::vector<std::string> quiet;
  std::size_t all = 0;
  std::size_t shown = 0;
  for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
    const VerdictRow row = verdicts_of(setting, rule);
    if (row.panels.empty()) continue;
    if (!row.leaves_out) {
      quiet.push_back(clip(setting.rules[rule].label, 40));
      continue;
    }
    std::string panels;
    for (const auto& [title, rounds] : row.panels) {
      if (++all > kMostVerdictPanels) continue;
      panels += verdict_panel(title, rounds);
      ++shown;
    }
    if (panels.empty()) continue;
    body += "<h4>" + escape(clip(setting.rules[rule].label, 60)) +
            "</h4><div class=\"panels small\">" + panels + "</div>";
  }
  if (shown == 0) return std::nullopt;
  std::string caption =
      "Decisions of the rule about the clients, over rounds, mean over seeds, stacked: honest "
      "clients below, Byzantine clients above. Quiet colours are right decisions, loud ones wrong. "
      "The numbers are wrong decisions in a round, on average.";
  if (!quiet.empty()) {
    caption += " Not drawn, because they leave out no client: " + escape(listed(quiet)) + ".";
  }
  return Section{"verdicts", "Clients accepted and left out", body,
                 caption + left_out(all, shown, "panels")};
}

std::optional<Section> label_mix_section(const Setting& setting) {
  std::string panels;
  std::size_t all = 0;
  std::size_t shown = 0;
  bool thinned = false;
  for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
    for (std::size_t attack = 0; attack < setting.attacks.size(); ++attack) {
      const Cell& cell = setting.cell(rule, attack);
      const auto run = std::find_if(cell.runs.begin(), cell.runs.end(), [](const RunData* each) {
        return each->estimate && !each->estimate->clients.empty();
      });
      if (run == cell.runs.end() || ++all > kMostMixPanels) continue;
      panels += label_mix_panel(mix_title(setting, rule, attack), **run, setting.classes);
      thinned = thinned || (*run)->estimate->clients.size() > kMostClients;
      ++shown;
    }
  }
  if (shown == 0) return std::nullopt;
  std::string caption =
      "Every line is a client, every column a class; darker (brighter on a dark page) is a larger "
      "share of the client's labels. Left: the labels of the client. Right: the rule's estimate "
      "from its update in the last evaluated round, first seed. Where the sides look alike the "
      "server knows the mix without having seen any of the clients' data.";
  if (thinned) caption += fmt::format(" {} clients are drawn, evenly chosen.", kMostClients);
  return Section{"label-mix", "True and estimated label mix",
                 "<div class=\"panels tall\">" + panels + "</div>",
                 caption + left_out(all, shown, "pairs of rule and attack")};
}

std::optional<Section> partition_section(const Setting& setting) {
  const auto run = std::find_if(setting.runs.begin(), setting.runs.end(), [](const RunData* each) {
    return !ordered_clients(*each).empty();
  });
  if (run == setting.runs.end()) return std::nullopt;
  const std::size_t clients = ordered_clients(**run).size();
  std::string caption = fmt::format(
      "Which labels the honest clients hold: a column for each client, ordered by main class; the "
      "stronger the shade the larger the class's share of its examples. Seed {}. Point at a column "
      "for the counts.",
      (*run)->record.header.seed);
  if (clients > kMostClients) {
    caption += fmt::format(" {} of {} clients are drawn, evenly chosen.", kMostClients, clients);
  }
  return Section{"partition", "Labels of the clients",
                 "<div class=\"wide\">" + partition_strip(**run, setting.classes) + "</div>",
                 caption};
}

std::optional<Section> time_section(const Setting& setting) {
  BarTable table;
  table.title = "Time of a round";
  table.description = "A row for each rule; training, attack, aggregation, evaluation, altogether";
  table.scale = BarScale::kPerColumn;
  for (const PhaseColumn& phase : kPhases) table.columns.emplace_back(phase.name);
  table.columns.emplace_back("altogether");
  for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
    std::vector<BarCell> row = time_row(setting, rule);
    if (!row.back().value) continue;
    table.rows.push_back(setting.rules[rule].label);
    table.hues.push_back(setting.rules[rule].hue);
    table.cells.push_back(std::move(row));
  }
  if (table.rows.empty()) return std::nullopt;
  return Section{
      "time", "Time of a round", "<div class=\"wide\">" + bar_table(table) + "</div>",
      "Mean time of one round over all rounds and runs of the rule, by what it was spent "
      "on. Each column has its own scale: read the numbers to compare columns. Runs that "
      "shared the machine with others took longer."};
}

}  // namespace boba::sim::report
