#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reproduction/chart.h"
#include "reproduction/page_parts.h"
#include "simulator/report/bar_charts.h"
#include "simulator/report/matrix_chart.h"
#include "simulator/report/scale.h"
#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::reproduction {
namespace {

using sim::report::escape;

std::size_t place_in(const std::vector<std::string>& list, const std::string& value) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

std::string tip_of(const Comparison& cell, const std::string& axis) {
  return fmt::format("{}\n{} = {}\n{} %", cell.rule, axis, setting_text(cell),
                     value_text(cell.ours, cell.ours_sd));
}

// The numbers of a figure, for readers who want them.
std::string numbers_html(const PaperResults& results, std::span<const Comparison> cells,
                         const std::string& dataset) {
  std::vector<Head> heads = {{"rule", false},
                             {results.file.axis.empty() ? "setting" : results.file.axis, false}};
  std::vector<std::string> columns;
  for (const Comparison& cell : cells) {
    if (cell.dataset != dataset || cell.metric != "accuracy") continue;
    if (place_in(columns, cell.attack) == columns.size()) columns.push_back(cell.attack);
  }
  for (const std::string& column : columns) heads.push_back({column, true});
  std::string rows;
  std::string open;
  for (const Comparison& cell : cells) {
    if (cell.dataset != dataset || cell.metric != "accuracy") continue;
    const std::string row = cell.rule + "\n" + setting_text(cell);
    if (row != open) {
      rows += fmt::format("{}<tr><td>{}</td><td>{}</td>", open.empty() ? "" : "</tr>",
                          escape(cell.rule), escape(setting_text(cell)));
      open = row;
    }
    rows += cell.ours ? fmt::format("<td class=\"n\" data-v=\"{:.6g}\">{}</td>", *cell.ours,
                                    escape(value_text(cell.ours, cell.ours_sd)))
                      : std::string("<td class=\"n\">not run</td>");
  }
  if (!rows.empty()) rows += "</tr>";
  return "<details><summary>The numbers</summary><div class=\"wide\"><table class=\"sortable "
         "figures\">" +
         table_head(heads) + "<tbody>" + rows + "</tbody></table></div></details>";
}

std::string around(const PaperResults& results, std::span<const Comparison> cells,
                   const std::string& dataset, const std::string& picture) {
  SeedRange seeds;
  for (const Comparison& cell : cells) {
    if (cell.dataset == dataset) seeds.add(cell);
  }
  std::string html = "<h3>" + escape(dataset_title(dataset)) + "</h3>";
  if (seeds.most > 0) html += picture;
  return html + "<p class=\"lead\">" + escape(facts_line(results, dataset, seeds)) + "</p>" +
         numbers_html(results, cells, dataset);
}

Chart attack_chart(const PaperResults& results, std::span<const Comparison> cells,
                   const std::string& dataset, const std::string& attack) {
  Chart plot;
  plot.title = attack == kNone ? "no attack" : attack;
  plot.x_label = results.file.axis;
  plot.unit = "accuracy in %";
  plot.x_names = results.settings;
  for (std::size_t i = 0; i < results.rules.size(); ++i) {
    ChartLine line{results.rules[i], i, {}};
    for (const Comparison& cell : cells) {
      if (cell.dataset != dataset || cell.attack != attack || cell.metric != "accuracy" ||
          cell.rule != results.rules[i] || !cell.ours) {
        continue;
      }
      const double spread = cell.ours_sd.value_or(0);
      line.points.push_back({static_cast<double>(place_in(results.settings, cell.setting)),
                             *cell.ours, *cell.ours - spread, *cell.ours + spread,
                             tip_of(cell, results.file.axis)});
    }
    if (!line.points.empty()) plot.lines.push_back(std::move(line));
  }
  plot.description = fmt::format("accuracy over {} of {} under {}", results.file.axis,
                                 sim::report::listed(results.rules), plot.title);
  return plot;
}

// A row of bars, one for each attack; none where the experiment has no such cells.
void add_bars(const PaperResults& results, std::span<const Comparison> cells, const CellKey& key,
              sim::report::BarTable& table) {
  const bool several = results.rules.size() > 1;
  std::vector<sim::report::BarCell> row(results.attacks.size());
  bool known = false;
  for (const Comparison& cell : cells) {
    if (cell.dataset != key.dataset || cell.rule != key.rule || cell.setting != key.setting ||
        cell.metric != "accuracy" || cell.attack == kWorst) {
      continue;
    }
    known = true;
    if (!cell.ours) continue;
    const double spread = cell.ours_sd.value_or(0);
    row[place_in(results.attacks, cell.attack)] = {
        *cell.ours, *cell.ours - spread, *cell.ours + spread, fmt::format("{:.1f}", *cell.ours),
        tip_of(cell, results.file.axis)};
  }
  if (!known) return;
  table.rows.push_back(several ? key.rule + " " + key.setting : key.setting);
  table.hues.push_back(several ? place_in(results.rules, key.rule)
                               : place_in(results.settings, key.setting));
  table.cells.push_back(std::move(row));
}

}  // namespace

std::string lines_html(const PaperResults& results, std::span<const Comparison> cells) {
  std::string html;
  for (const std::string& dataset : results.datasets) {
    std::string panels;
    std::vector<ChartLine> lines;
    for (const std::string& attack : results.attacks) {
      const Chart plot = attack_chart(results, cells, dataset, attack);
      if (plot.lines.empty()) continue;
      if (plot.lines.size() > lines.size()) lines = plot.lines;
      panels += chart(plot);
    }
    html += around(results, cells, dataset,
                   chart_legend(lines) + "<div class=\"panels\">" + panels + "</div>");
  }
  return html;
}

std::string bars_html(const PaperResults& results, std::span<const Comparison> cells) {
  std::string html;
  for (const std::string& dataset : results.datasets) {
    sim::report::BarTable table;
    table.title = fmt::format("Accuracy on {}", dataset_title(dataset));
    table.description = fmt::format("accuracy by {} and attack", results.file.axis);
    table.columns = results.attacks;
    // The settings of a rule stand together.
    for (const std::string& rule : results.rules) {
      for (const std::string& setting : results.settings) {
        add_bars(results, cells, {dataset, setting, "", rule, ""}, table);
      }
    }
    html += around(results, cells, dataset,
                   "<div class=\"wide\">" + sim::report::bar_table(table) + "</div>");
  }
  return html;
}

std::string matrix_html(const PaperResults& results, std::span<const Comparison> cells) {
  std::string html;
  for (const std::string& dataset : results.datasets) {
    sim::report::Matrix matrix;
    matrix.title = fmt::format("Accuracy on {}", dataset_title(dataset));
    matrix.description =
        fmt::format("accuracy by {} and {}", results.file.axis, results.file.second_axis);
    matrix.row_title = results.file.axis;
    matrix.column_title = results.file.second_axis;
    matrix.rows = results.settings;
    matrix.columns = results.seconds;
    matrix.cells.assign(matrix.rows.size(),
                        std::vector<sim::report::MatrixCell>(matrix.columns.size()));
    std::vector<double> shares;
    for (const Comparison& cell : cells) {
      if (cell.dataset == dataset && cell.ours) shares.push_back(*cell.ours / 100);
    }
    const sim::report::Domain domain = sim::report::share_domain(shares);
    for (const Comparison& cell : cells) {
      if (cell.dataset != dataset || cell.metric != "accuracy" || !cell.ours) continue;
      matrix.cells[place_in(matrix.rows, cell.setting)][place_in(matrix.columns, cell.second)] = {
          sim::report::bin_of(*cell.ours / 100, domain, sim::report::kShades),
          fmt::format("{:.1f}", *cell.ours), "", tip_of(cell, results.file.axis)};
    }
    html += around(results, cells, dataset,
                   "<div class=\"wide\">" + sim::report::matrix_chart(matrix) + "</div>" +
                       sim::report::shade_key(domain, "accuracy"));
  }
  return html;
}

}  // namespace boba::reproduction
