#include "simulator/report/sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/report/line_panel.h"
#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::sim::report {

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
