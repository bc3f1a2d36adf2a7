#include "reproduction/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulator/report/scale.h"
#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::reproduction {
namespace {

using sim::report::LinearScale;
using sim::report::Svg;

constexpr sim::report::SvgSize kSize{360, 230};
constexpr double kLeft = 44;
constexpr double kRight = 348;
constexpr double kTop = 26;
constexpr double kBottom = 190;

struct Domain {
  double low = 0;
  double high = 1;
};

bool drawable(const Chart& chart, double y) { return std::isfinite(y) && (!chart.log_y || y > 0); }

double place(const Chart& chart, double y) { return chart.log_y ? std::log10(y) : y; }

Domain y_domain(const Chart& chart) {
  Domain domain{INFINITY, -INFINITY};
  for (const ChartLine& line : chart.lines) {
    for (const ChartPoint& point : line.points) {
      for (const double y : {point.y, point.low, point.high}) {
        if (!drawable(chart, y)) continue;
        domain.low = std::min(domain.low, place(chart, y));
        domain.high = std::max(domain.high, place(chart, y));
      }
    }
  }
  if (!(domain.low <= domain.high)) return {0, 1};
  if (chart.log_y) return {std::floor(domain.low), std::ceil(domain.high + 1e-9)};
  const double margin = std::max(chart.margin, 0.06 * (domain.high - domain.low));
  return {domain.low >= 0 ? std::max(0.0, domain.low - margin) : domain.low - margin,
          domain.high + margin};
}

Domain x_domain(const Chart& chart) {
  if (!chart.x_names.empty()) return {-0.3, static_cast<double>(chart.x_names.size()) - 0.7};
  Domain domain{INFINITY, -INFINITY};
  for (const ChartLine& line : chart.lines) {
    for (const ChartPoint& point : line.points) {
      domain.low = std::min(domain.low, point.x);
      domain.high = std::max(domain.high, point.x);
    }
  }
  return domain.low <= domain.high ? domain : Domain{0, 1};
}

void draw_y_axis(Svg& svg, const Chart& chart, const Domain& domain, const LinearScale& y) {
  std::vector<double> ticks;
  if (chart.log_y) {
    const double step = std::max(1.0, std::ceil((domain.high - domain.low) / 6));
    for (double tick = domain.low; tick <= domain.high + 1e-9; tick += step) ticks.push_back(tick);
  } else {
    ticks = sim::report::nice_ticks(domain.low, domain.high, 5);
  }
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
  for (const double tick : ticks) {
    svg.line(kLeft, y(tick), kRight, y(tick), "grid");
    const std::string words =
        chart.log_y ? fmt::format("1e{:.0f}", tick) : sim::report::tick_label(tick, step);
    svg.text(kLeft - 6, y(tick) + 3.5, words, "tick end");
  }
}

void draw_x_axis(Svg& svg, const Chart& chart, const Domain& domain, const LinearScale& x) {
  if (chart.x_names.empty()) {
    const std::vector<double> ticks = sim::report::nice_ticks(domain.low, domain.high, 5);
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
    for (const double tick : ticks) {
      svg.text(x(tick), kBottom + 16, sim::report::tick_label(tick, step), "tick middle");
    }
  }
  for (std::size_t i = 0; i < chart.x_names.size(); ++i) {
    svg.text(x(static_cast<double>(i)), kBottom + 16, sim::report::clip(chart.x_names[i], 12),
             "tick middle");
  }
  svg.line(kLeft, kBottom, kRight, kBottom, "axis");
  svg.text(kRight, kBottom + 32, chart.x_label, "tick end");
}

void draw_line(Svg& svg, const Chart& chart, const ChartLine& line, const LinearScale& x,
               const LinearScale& y) {
  svg.open("g", {{"class", sim::report::series_class(line.hue)}});
  sim::report::PathData path;
  for (const ChartPoint& point : line.points) {
    if (!drawable(chart, point.y)) continue;
    const double at = y(place(chart, point.y));
    path.empty() ? path.move(x(point.x), at) : path.draw(x(point.x), at);
  }
  if (!path.empty()) svg.path(path.data(), {{"class", "mean"}});
  for (const ChartPoint& point : line.points) {
    if (!drawable(chart, point.y)) continue;
    if (point.high > point.low && drawable(chart, point.low)) {
      svg.line(x(point.x), y(place(chart, point.low)), x(point.x), y(place(chart, point.high)),
               "whisker");
    }
    if (chart.dots) {
      svg.circle(x(point.x), y(place(chart, point.y)), 3.2,
                 {{"class", "dot"}, {"data-tip", point.tip}});
    }
  }
  svg.close();
}

}  // namespace

std::string chart(const Chart& chart) {
  const Domain y_range = y_domain(chart);
  const Domain x_range = x_domain(chart);
  const LinearScale x(x_range.low, x_range.high, kLeft + 4, kRight - 4);
  const LinearScale y(y_range.low, y_range.high, kBottom, kTop);
  Svg svg(kSize, chart.title, chart.description, {{"class", "panel"}});
  svg.text(0, 14, sim::report::clip(chart.title, 44), "heading");
  if (!chart.unit.empty()) svg.text(kRight, 14, chart.unit, "tick end");
  draw_y_axis(svg, chart, y_range, y);
  draw_x_axis(svg, chart, x_range, x);
  for (const ChartLine& line : chart.lines) draw_line(svg, chart, line, x, y);
  return svg.finish();
}

std::string chart_legend(const std::vector<ChartLine>& lines) {
  std::string html = "<ul class=\"legend\" aria-label=\"Lines\">";
  for (const ChartLine& line : lines) {
    Svg swatch({26, 12}, line.label, "the line of " + line.label);
    swatch.open("g", {{"class", sim::report::series_class(line.hue)}});
    swatch.line(0, 6, 26, 6, "mean");
    swatch.close();
    html += fmt::format(
        "<li><button type=\"button\" class=\"{}\" aria-pressed=\"false\">{}{}"
        "</button></li>",
        sim::report::series_class(line.hue), swatch.finish(), sim::report::escape(line.label));
  }
  return html + "</ul>";
}

}  // namespace boba::reproduction
