#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reproduction/chart.h"
#include "reproduction/expand.h"
#include "reproduction/page_parts.h"
#include "simulator/report/bar_charts.h"
#include "simulator/report/statistics.h"
#include "simulator/report/text.h"

namespace boba::reproduction {
namespace {

using sim::report::escape;

// One series of a measurement.
std::vector<sim::MeasuredPoint> series_of(const sim::MeasurementRecord& record,
                                          std::string_view series) {
  std::vector<sim::MeasuredPoint> points;
  for (const sim::MeasuredPoint& point : record.points) {
    if (point.series == series) points.push_back(point);
  }
  return points;
}

// What a measurement is of; none for a config of another version of boba.
std::optional<sim::Experiment> experiment_of(const sim::MeasurementRecord& record) {
  auto experiment = sim::experiment_from_text(record.config);
  if (!experiment) return std::nullopt;
  return *std::move(experiment);
}

std::string seeds_line(std::span<const sim::MeasurementRecord> records) {
  std::set<std::uint64_t> seeds;
  std::set<std::string> machines;
  for (const sim::MeasurementRecord& record : records) {
    seeds.insert(record.seed);
    machines.insert(record.machine);
  }
  return "<p class=\"lead\">" +
         escape(fmt::format("{} · {}", sim::report::counted(seeds.size(), "seed"),
                            sim::report::listed(machines))) +
         "</p>";
}

// Means over seeds at each place, with the range.
ChartLine line_of(const std::string& label, std::size_t hue,
                  const std::map<double, std::vector<double>>& values) {
  ChartLine line{label, hue, {}};
  for (const auto& entry : values) {
    const sim::report::Statistics all = sim::report::statistics_of(entry.second);
    if (all.count == 0) continue;
    line.points.push_back({entry.first, all.mean, all.low, all.high,
                           fmt::format("{}\n{:g}: {:.4g}", label, entry.first, all.mean)});
  }
  return line;
}

// Share of the variance in the first c - 1 = 9 components, by label of line.
std::string shares_table(const std::map<std::string, std::vector<double>>& shares,
                         const std::map<std::string, std::vector<double>>& totals) {
  std::string rows;
  for (const auto& entry : shares) {
    const sim::report::Statistics share = sim::report::statistics_of(entry.second);
    const sim::report::Statistics total = sim::report::statistics_of(totals.at(entry.first));
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\" data-v=\"{:.6g}\">{:.2f} %</td><td class=\"n\" "
        "data-v=\"{:.6g}\">{:.4g}</td></tr>",
        escape(entry.first), share.mean, 100 * share.mean, total.mean, total.mean);
  }
  const std::vector<Head> heads = {
      {"updates", false}, {"in the first 9 components", true}, {"variance", true}};
  return "<div class=\"wide\"><table class=\"sortable measured\">" + table_head(heads) + "<tbody>" +
         rows + "</tbody></table></div>";
}

}  // namespace

std::string pca_html(std::span<const sim::MeasurementRecord> records) {
  constexpr std::size_t kFirst = 9;   // c - 1
  constexpr std::size_t kShown = 30;  // the rest is small
  std::map<std::string, std::map<std::string, std::map<double, std::vector<double>>>> panels;
  std::map<std::string, std::vector<double>> shares;
  std::map<std::string, std::vector<double>> totals;
  for (const sim::MeasurementRecord& record : records) {
    const auto e = experiment_of(record);
    if (!e) continue;
    const std::string algorithm = std::string(sim::algorithm_name(e->training.algorithm));
    const std::string partition = e->data.partition == "iid" ? "iid" : "label skew";
    double first = 0;
    double total = 0;
    const std::vector<sim::MeasuredPoint> points = series_of(record, "variance");
    for (std::size_t k = 0; k < points.size(); ++k) {
      total += points[k].y;
      if (k < kFirst) first += points[k].y;
      if (k < kShown) panels[algorithm][partition][points[k].x].push_back(points[k].y);
    }
    const std::string label = algorithm + ", " + partition;
    shares[label].push_back(total > 0 ? first / total : NAN);
    totals[label].push_back(total);
  }
  if (panels.empty()) return "<p class=\"lead\">Not run.</p>";
  std::string html;
  std::vector<ChartLine> lines;
  for (const auto& panel : panels) {
    Chart plot;
    plot.title = panel.first;
    plot.x_label = "principal component";
    plot.unit = "variance";
    plot.log_y = true;
    plot.description = "variance of honest updates along their principal components";
    std::size_t hue = 0;
    for (const auto& line : panel.second)
      plot.lines.push_back(line_of(line.first, hue++, line.second));
    lines = plot.lines;
    html += chart(plot);
  }
  return chart_legend(lines) + "<div class=\"panels\">" + html + "</div>" +
         shares_table(shares, totals) + seeds_line(records);
}

std::string time_html(std::span<const sim::MeasurementRecord> records) {
  std::map<std::string, std::vector<double>> times;
  for (const sim::MeasurementRecord& record : records) {
    const auto e = experiment_of(record);
    if (!e) continue;
    for (const sim::MeasuredPoint& point : series_of(record, "ms")) {
      times[rule_name(e->rule)].push_back(point.y);
    }
  }
  if (times.empty()) return "<p class=\"lead\">Not run.</p>";
  std::vector<std::pair<double, std::string>> order;
  for (auto& entry : times) {
    std::sort(entry.second.begin(), entry.second.end());
    order.emplace_back(entry.second[entry.second.size() / 2], entry.first);
  }
  std::sort(order.begin(), order.end());
  sim::report::BarTable table;
  table.title = "Time of one aggregation";
  table.description = "median time of one aggregation of each rule, in milliseconds";
  table.columns = {"milliseconds"};
  for (const auto& each : order) {
    table.rows.push_back(each.second);
    table.hues.push_back(each.second == "boba" ? 1 : 0);
    table.cells.push_back({{each.first, 0, 0, fmt::format("{:.2f} ms", each.first),
                            fmt::format("{}: {:.2f} ms", each.second, each.first)}});
  }
  return "<div class=\"wide\">" + sim::report::bar_table(table) + "</div>" + seeds_line(records);
}

std::string loss_ratio_html(std::span<const sim::MeasurementRecord> records) {
  std::map<std::string, std::map<double, std::vector<double>>> panels;
  std::vector<std::string> order;
  for (const sim::MeasurementRecord& record : records) {
    const auto e = experiment_of(record);
    if (!e) continue;
    const std::string attack = short_name(e->attack);
    if (!panels.contains(attack)) order.push_back(attack);
    for (const sim::MeasuredPoint& point : series_of(record, "ratio")) {
      panels[attack][point.x].push_back(point.y);
    }
  }
  if (panels.empty()) return "<p class=\"lead\">Not run.</p>";
  std::string html;
  std::string rows;
  for (const std::string& attack : order) {
    Chart plot;
    plot.title = attack == "none" ? "no attack" : attack;
    plot.x_label = "round";
    plot.unit = "loss of boba / boba-es";
    plot.dots = false;
    plot.margin = 0.02;
    plot.description = "trimmed loss of boba over that of an exhaustive search, by round";
    plot.lines = {line_of("ratio", 0, panels[attack])};
    html += chart(plot);
    std::vector<double> all;
    for (const auto& entry : panels[attack]) {
      all.insert(all.end(), entry.second.begin(), entry.second.end());
    }
    const sim::report::Statistics ratio = sim::report::statistics_of(all);
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\" data-v=\"{:.6g}\">{:.3f}</td><td class=\"n\" "
        "data-v=\"{:.6g}\">{:.3f}</td></tr>",
        escape(plot.title), ratio.mean, ratio.mean, ratio.high, ratio.high);
  }
  const std::vector<Head> heads = {{"attack", false}, {"mean ratio", true}, {"largest", true}};
  return "<div class=\"panels\">" + html +
         "</div><div class=\"wide\"><table class=\"sortable measured\">" + table_head(heads) +
         "<tbody>" + rows + "</tbody></table></div>" + seeds_line(records);
}

}  // namespace boba::reproduction
