// The two tables: a line for each rule under each attack, and a line for each run.

#include <fmt/format.h>

#include <map>

#include "simulator/report/sections.h"
#include "simulator/report/text.h"

namespace boba::sim::report {
namespace {

constexpr std::size_t kWordsOfCell = 300;

struct Column {
  const char* key;  // #sort=key
  const char* title;
  bool numeric = false;
};

std::string head(std::span<const Column> columns) {
  std::string html = "<thead><tr>";
  for (const Column& column : columns) {
    html += fmt::format(
        "<th scope=\"col\" aria-sort=\"none\" data-key=\"{}\"{}><button type=\"button\">{}"
        "</button></th>",
        column.key, column.numeric ? " class=\"n\"" : "", escape(column.title));
  }
  return html + "</tr></thead>";
}

std::string words(std::string_view text) {
  const std::string shown = clip(text, kWordsOfCell);
  return "<td>" + escape(shown) + "</td>";
}

// value is what sorting compares; a missing one has no data-v and goes last.
std::string value(std::optional<double> number, const std::string& shown) {
  if (!number) return "<td class=\"n\">–</td>";
  return fmt::format("<td class=\"n\" data-v=\"{:.12g}\">{}</td>", *number, escape(shown));
}

std::string share(std::optional<double> number) {
  return value(number, number ? percent(*number) : "");
}

std::optional<double> of(const Statistics& statistics, double Statistics::*part) {
  if (statistics.count == 0) return std::nullopt;
  return statistics.*part;
}

double mean_seconds(const Cell& cell) {
  double sum = 0;
  for (const RunData* run : cell.runs) sum += run->record.seconds;
  return cell.runs.empty() ? 0 : sum / static_cast<double>(cell.runs.size());
}

std::string summary_row(const Setting& setting, std::size_t rule, std::size_t attack) {
  const Cell& cell = setting.cell(rule, attack);
  const Axis& axis = setting.attacks[attack];
  const auto count = static_cast<double>(cell.runs.size());
  std::string seeds = fmt::format("{}{}", cell.runs.size(), cell.partial ? "*" : "");
  if (cell.failed > 0) seeds += fmt::format(" ({} of {} failed)", cell.failed, cell.all);
  return "<tr>" + words(setting.rules[rule].spec) + words(axis.spec) +
         value(axis.byzantine, std::to_string(axis.byzantine)) + value(count, seeds) +
         share(cell.accuracy.known_mean()) + share(cell.accuracy.known_deviation()) +
         share(of(cell.accuracy, &Statistics::low)) + share(of(cell.accuracy, &Statistics::high)) +
         share(cell.mrd.known_mean()) +
         (cell.runs.empty() ? value({}, "")
                            : value(mean_seconds(cell), duration(mean_seconds(cell)))) +
         "</tr>";
}

// What went wrong, if anything.
std::string remark(const RunData& run) {
  if (!run.record.error.empty()) return run.record.error;
  if (run.noted_rounds == 0) return "";
  return fmt::format("{} with a note; first: {}", counted(run.noted_rounds, "round"),
                     run.first_note);
}

// numbers: of the settings that the run belongs to; none: there is only one.
std::string run_row(const RunData& run, const std::vector<std::size_t>& numbers) {
  const RunRecord& record = run.record;
  const RunHeader& header = record.header;
  std::string html = fmt::format("<tr class=\"{}\">", name(record.status));
  html += value(static_cast<double>(record.id), std::to_string(record.id));
  if (!numbers.empty()) {
    html += value(static_cast<double>(numbers[0]), fmt::format("{}", fmt::join(numbers, ", ")));
  }
  html += words(name(record.status)) + words(header.rule) + words(header.attack);
  html += value(header.byzantine, std::to_string(header.byzantine));
  html += value(static_cast<double>(header.seed), std::to_string(header.seed));
  html +=
      value(record.rounds_done, record.rounds_done == header.rounds
                                    ? std::to_string(header.rounds)
                                    : fmt::format("{} of {}", record.rounds_done, header.rounds));
  html += share(record.accuracy) + share(record.mrd);
  html += value(record.seconds, duration(record.seconds));
  return html + words(remark(run)) + "</tr>";
}

}  // namespace

std::optional<Section> summary_section(const Setting& setting) {
  static constexpr Column kColumns[] = {{"rule", "Rule"},
                                        {"attack", "Attack"},
                                        {"byzantine", "Byzantine", true},
                                        {"seeds", "Seeds", true},
                                        {"accuracy", "Accuracy", true},
                                        {"sd", "sd", true},
                                        {"lowest", "Lowest", true},
                                        {"highest", "Highest", true},
                                        {"mrd", "MRD", true},
                                        {"seconds", "Time of a run", true}};
  if (most_seeds(setting) == 0) return std::nullopt;
  std::string rows;
  for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
    for (std::size_t attack = 0; attack < setting.attacks.size(); ++attack) {
      const Cell& cell = setting.cell(rule, attack);
      if (!cell.runs.empty() || cell.failed > 0) rows += summary_row(setting, rule, attack);
    }
  }
  return Section{"summary", "Numbers",
                 "<div class=\"wide\"><table class=\"sortable summary\">" + head(kColumns) +
                     "<tbody>" + rows + "</tbody></table></div>",
                 "Accuracy in percent, MRD in percentage points, over the seeds whose runs did "
                 "not fail; a star marks runs that have not finished. Press a heading "
                 "to sort by it; press again to turn the order round."};
}

Section runs_section(std::span<const Setting> settings) {
  std::vector<Column> columns = {{"run", "Run", true}};
  const bool several = settings.size() > 1;
  if (several) columns.push_back({"setting", "Setting", true});
  for (const Column& column :
       {Column{"status", "Status"}, Column{"rule", "Rule"}, Column{"attack", "Attack"},
        Column{"byzantine", "Byzantine", true}, Column{"seed", "Seed", true},
        Column{"rounds", "Rounds", true}, Column{"accuracy", "Accuracy", true},
        Column{"mrd", "MRD", true}, Column{"seconds", "Time", true}, Column{"remark", "Remark"}}) {
    columns.push_back(column);
  }
  // Runs lie in memory in the order of their ids; some belong to several settings.
  std::map<const RunData*, std::vector<std::size_t>> runs;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    for (const RunData* run : settings[i].runs) {
      std::vector<std::size_t>& numbers = runs[run];
      if (several) numbers.push_back(i + 1);
    }
  }
  std::string rows;
  for (const auto& entry : runs) rows += run_row(*entry.first, entry.second);
  return Section{"runs", "All runs",
                 "<div class=\"wide\"><table class=\"sortable runs\">" + head(columns) + "<tbody>" +
                     rows + "</tbody></table></div>",
                 "Every run of the database that was asked for, finished or not. Accuracy is that "
                 "of the last evaluation. Headings sort."};
}

}  // namespace boba::sim::report
