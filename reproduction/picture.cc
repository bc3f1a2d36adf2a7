// Fig. 2: what four rules answer in the plane, without attackers and under many attacks.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reproduction/page_parts.h"
#include "simulator/report/scale.h"
#include "simulator/report/statistics.h"
#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::reproduction {
namespace {

using sim::report::LinearScale;
using sim::report::Svg;

constexpr double kSide = 260;
constexpr double kTop = 24;
constexpr double kFrom = -0.7;
constexpr double kTo = 1.7;
constexpr std::size_t kBins = 40;

struct Place {
  double x = 0;
  double y = 0;
};

using Series = std::map<std::string, std::vector<Place>>;

Series series_of(const sim::MeasurementRecord& record) {
  Series all;
  for (const sim::MeasuredPoint& point : record.points)
    all[point.series].push_back({point.x, point.y});
  return all;
}

// The rules of "krum none".
std::vector<std::string> rules_of(const Series& series) {
  std::vector<std::string> rules;
  for (const auto& entry : series) {
    const std::size_t space = entry.first.rfind(" none");
    if (space != std::string::npos) rules.push_back(entry.first.substr(0, space));
  }
  return rules;
}

double distance(const Place& a, const Place& b) { return std::hypot(a.x - b.x, a.y - b.y); }

void draw_heat(Svg& svg, const std::vector<Place>& answers, const LinearScale& x,
               const LinearScale& y) {
  std::vector<double> counts(kBins * kBins);
  double most = 0;
  for (const Place& place : answers) {
    const double column = (place.x - kFrom) / (kTo - kFrom) * kBins;
    const double row = (place.y - kFrom) / (kTo - kFrom) * kBins;
    if (!(column >= 0 && column < kBins && row >= 0 && row < kBins)) continue;
    double& count =
        counts[static_cast<std::size_t>(row) * kBins + static_cast<std::size_t>(column)];
    most = std::max(most, ++count);
  }
  const double cell = kSide / kBins;
  const double width = (kTo - kFrom) / kBins;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    // Few answers are seen too: shades by the logarithm.
    const double share = std::log1p(counts[i]) / std::log1p(most);
    const int shade =
        std::clamp(static_cast<int>(share * sim::report::kShades), 1, sim::report::kShades - 1);
    const std::size_t row = i / kBins;
    const std::size_t column = i % kBins;
    svg.rect(x(kFrom + width * static_cast<double>(column)),
             y(kFrom + width * static_cast<double>(row + 1)), cell, cell,
             {{"class", fmt::format("h{}", shade)}});
  }
}

std::string panel(const Series& series, const std::string& rule) {
  const LinearScale x(kFrom, kTo, 0, kSide);
  const LinearScale y(kFrom, kTo, kTop + kSide, kTop);
  Svg svg({kSide, kTop + kSide + 4}, rule,
          fmt::format("answers of {} without attackers and under many attacks", rule),
          {{"class", "panel"}});
  svg.text(0, 14, rule, "heading");
  svg.rect(0, kTop, kSide, kSide, {{"class", "empty"}});
  const auto attacked = series.find(rule + " attack");
  if (attacked != series.end()) draw_heat(svg, attacked->second, x, y);
  const auto dots = [&](const std::string& name, std::size_t hue, double radius) {
    const auto found = series.find(name);
    if (found == series.end()) return;
    svg.open("g", {{"class", fmt::format("series c{}", hue)}});
    for (const Place& place : found->second) {
      svg.circle(x(place.x), y(place.y), radius, {{"class", "dot"}, {"data-tip", name}});
    }
    svg.close();
  };
  dots("honest", 6, 2.4);
  dots("centre", 2, 5);
  const auto answer = series.find(rule + " none");
  if (answer != series.end() && !answer->second.empty()) {
    const Place& place = answer->second.front();
    svg.open("g", {{"class", "series c1 v0"}});
    svg.rect(x(place.x) - 4, y(place.y) - 4, 8, 8,
             {{"class", "bar"}, {"data-tip", rule + " without attackers"}});
    svg.close();
  }
  return svg.finish();
}

}  // namespace

std::string picture_html(std::span<const sim::MeasurementRecord> records) {
  if (records.empty()) return "<p class=\"lead\">Not run.</p>";
  const Series first = series_of(records.front());
  std::string panels;
  for (const std::string& rule : rules_of(first)) panels += panel(first, rule);
  std::string rows;
  for (const std::string& rule : rules_of(first)) {
    std::vector<double> bias;
    std::vector<double> radius;
    for (const sim::MeasurementRecord& record : records) {
      const Series series = series_of(record);
      const auto centre = series.find("centre");
      const auto answer = series.find(rule + " none");
      const auto attacked = series.find(rule + " attack");
      if (centre == series.end() || answer == series.end() || attacked == series.end()) continue;
      bias.push_back(distance(answer->second.front(), centre->second.front()));
      double farthest = 0;
      for (const Place& place : attacked->second) {
        farthest = std::max(farthest, distance(place, centre->second.front()));
      }
      radius.push_back(farthest);
    }
    const double drawn = sim::report::statistics_of(bias).mean;
    const double reach = sim::report::statistics_of(radius).mean;
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\" data-v=\"{:.6g}\">{:.3f}</td><td class=\"n\" "
        "data-v=\"{:.6g}\">{:.3f}</td></tr>",
        sim::report::escape(rule), drawn, drawn, reach, reach);
  }
  const std::vector<Head> heads = {
      {"rule", false}, {"distance without attack", true}, {"farthest under attack", true}};
  return "<div class=\"panels small\">" + panels +
         "</div><p>Grey dots are honest updates, the green dot is their mean, the square is the "
         "answer without attackers. Shades count the answers when four attackers send one point, "
         "anywhere in the square from -1 to 2, seed 1. Distances are from the honest mean, on "
         "average over seeds.</p><div class=\"wide\"><table class=\"sortable measured\">" +
         table_head(heads) + "<tbody>" + rows + "</tbody></table></div>";
}

}  // namespace boba::reproduction
