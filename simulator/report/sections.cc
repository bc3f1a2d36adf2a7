#include "simulator/report/sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/report/line_panel.h"
#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::sim::report {
namespace {

constexpr std::size_t kMostPanels = 24;
constexpr std::size_t kMostEndLabels = 4;  // rules whose names fit beside their lines

using CurveOf = Curve (*)(const RunData&);

Curve accuracy_curve(const RunData& run) {
  Curve curve;
  for (const AccuracyPoint& point : run.curve) {
    curve.push_back({static_cast<double>(point.round), point.accuracy});
  }
  return curve;
}

Curve error_curve(const RunData& run) {
  Curve curve;
  for (const RoundPoint& point : run.rounds) {
    if (point.label_error) curve.push_back({static_cast<double>(point.round), *point.label_error});
  }
  return curve;
}

Line line_of(const Setting& setting, std::size_t rule, std::size_t attack, CurveOf curve_of) {
  std::vector<Curve> curves;
  for (const RunData* run : setting.cell(rule, attack).runs) curves.push_back(curve_of(*run));
  const Axis& axis = setting.rules[rule];
  return {axis.label, axis.hue, band_of(curves)};
}

std::string attack_title(const Axis& attack) {
  return attack.is_attack() ? attack.label : "no attack";
}

// A sentence for those who cannot see the panel.
std::string ends_of(const LinePanel& panel) {
  std::vector<std::string> words;
  for (const Line& line : panel.lines) {
    if (line.points.empty()) continue;
    words.push_back(clip(line.label, 40) + " " + percent(line.points.back().mean) + " %");
  }
  return "At the end: " + listed(words, 20);
}

// A panel for each attack that any line has points for.
std::vector<LinePanel> panels_of(const Setting& setting, CurveOf curve_of) {
  std::vector<LinePanel> panels;
  for (std::size_t attack = 0; attack < setting.attacks.size(); ++attack) {
    LinePanel panel;
    panel.title = attack_title(setting.attacks[attack]);
    for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
      Line line = line_of(setting, rule, attack, curve_of);
      if (!line.points.empty()) panel.lines.push_back(std::move(line));
    }
    if (!panel.lines.empty()) panels.push_back(std::move(panel));
  }
  return panels;
}

// All panels have the same axes, so that they can be compared.
void share_axes(std::vector<LinePanel>& panels, Domain (*domain_of)(const std::vector<double>&)) {
  std::vector<double> values;
  Domain rounds{1e300, -1e300};
  for (const LinePanel& panel : panels) {
    for (const Line& line : panel.lines) {
      for (const BandPoint& point : line.points) {
        values.push_back(point.low);
        values.push_back(point.high);
        rounds.from = std::min(rounds.from, point.x);
        rounds.to = std::max(rounds.to, point.x);
      }
    }
  }
  const Domain shares = domain_of(values);
  if (rounds.from <= 10) rounds.from = 0;
  for (LinePanel& panel : panels) {
    panel.x = rounds;
    panel.y = shares;
  }
}

// id begins the ids of the panels' parts.
std::string draw(std::vector<LinePanel>& panels, const Setting& setting, std::size_t shown,
                 const std::string& id) {
  std::string body = legend(setting.rules) + "<div class=\"panels\">";
  for (std::size_t i = 0; i < shown; ++i) {
    LinePanel& panel = panels[i];
    panel.id = fmt::format("{}-{}", id, i + 1);
    panel.description = ends_of(panel);
    panel.end_labels = setting.rules.size() <= kMostEndLabels;
    body += line_panel(panel);
  }
  return body + "</div>";
}

bool exceeds(const std::vector<LinePanel>& panels, double cap) {
  for (const LinePanel& panel : panels) {
    for (const Line& line : panel.lines) {
      for (const BandPoint& point : line.points) {
        if (point.high > cap) return true;
      }
    }
  }
  return false;
}

std::string band_words(const Setting& setting) {
  const std::size_t seeds = most_seeds(setting);
  if (seeds < 2) return "One seed each. ";
  return fmt::format("Lines are means over {} seeds, bands reach from the lowest to the highest. ",
                     seeds);
}

}  // namespace

std::optional<Section> curves_section(const Setting& setting, std::size_t index) {
  std::vector<LinePanel> panels = panels_of(setting, accuracy_curve);
  if (panels.empty()) return std::nullopt;
  share_axes(panels, share_domain);
  const std::size_t shown = std::min(kMostPanels, panels.size());
  return Section{
      "curves", "Accuracy over rounds",
      draw(panels, setting, shown, fmt::format("clip-curves-{}", index)),
      "Test accuracy in percent, a panel for each attack, a line for each rule. " +
          band_words(setting) +
          "Point at a panel, or focus it and use the arrow keys, to read values; press a name "
          "above to bring its line out." +
          left_out(panels.size(), shown, "attacks")};
}

std::optional<Section> label_error_section(const Setting& setting, std::size_t index) {
  std::vector<LinePanel> panels = panels_of(setting, error_curve);
  if (panels.empty()) return std::nullopt;
  share_axes(panels, error_domain);
  const std::size_t shown = std::min(kMostPanels, panels.size());
  Setting estimating = {};
  for (const Axis& rule : setting.rules) {
    const bool drawn = std::any_of(panels.begin(), panels.end(), [&](const LinePanel& panel) {
      return std::any_of(panel.lines.begin(), panel.lines.end(),
                         [&](const Line& line) { return line.label == rule.label; });
    });
    if (drawn) estimating.rules.push_back(rule);
  }
  std::string caption =
      "How far the estimated label mix is from the true one: half the sum of the absolute "
      "differences of the shares (half the L1 distance), mean over honest clients, in percent. 0 "
      "is exact; estimated shares may be negative or above 1, and above 100 % they lie far outside "
      "of what a mix can be. ";
  if (exceeds(panels, kErrorCap)) {
    caption += fmt::format("Values above {:.0f} % are drawn at the upper edge. ", 100 * kErrorCap);
  }
  return Section{"label-error", "Error of the label estimates over rounds",
                 draw(panels, estimating, shown, fmt::format("clip-label-error-{}", index)),
                 caption + band_words(setting) + left_out(panels.size(), shown, "attacks")};
}

std::vector<Section> sections_of(const Setting& setting, std::size_t index) {
  std::vector<Section> sections;
  const auto add = [&](std::optional<Section> section) {
    if (section) sections.push_back(std::move(*section));
  };
  add(curves_section(setting, index));
  add(grid_section(setting));
  add(worst_section(setting));
  add(mrd_section(setting));
  add(recall_section(setting));
  add(verdicts_section(setting));
  add(label_mix_section(setting));
  add(label_error_section(setting, index));
  add(partition_section(setting));
  add(time_section(setting));
  add(confusion_section(setting, index));
  add(summary_section(setting));
  return sections;
}

std::string legend(const std::vector<Axis>& rules) {
  std::string html = "<ul class=\"legend\" aria-label=\"Rules\">";
  for (const Axis& rule : rules) {
    Svg sample({26, 10}, rule.label, "its line", {{"aria-hidden", "true"}});
    sample.line(1, 5, 25, 5, "mean");
    html += fmt::format(
        "<li><button type=\"button\" class=\"{}\" aria-pressed=\"false\" title=\"{}\">{}"
        "<span>{}</span></button></li>",
        series_class(rule.hue), escape(clip(rule.spec, 200)), sample.finish(),
        escape(clip(rule.label, 40)));
  }
  return html + "</ul>";
}

std::string left_out(std::size_t all, std::size_t shown, std::string_view what) {
  if (shown >= all) return "";
  return fmt::format(" Of {} {} the first {} are drawn; the tables have them all.", all, what,
                     shown);
}

std::size_t most_seeds(const Setting& setting) {
  std::size_t seeds = 0;
  for (const std::vector<Cell>& row : setting.cells) {
    for (const Cell& cell : row) seeds = std::max(seeds, cell.runs.size());
  }
  return seeds;
}

}  // namespace boba::sim::report
