#include "simulator/report/line_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::sim::report {
namespace {

constexpr SvgSize kSize{360, 220};
constexpr double kLeft = 34;
constexpr double kTop = 26;
constexpr double kBottom = 190;
constexpr double kLabelRoom = 66;
constexpr double kLabelHeight = 12;
constexpr std::size_t kLabelCharacters = 10;

// The line that a value beyond the domain would draw leaves the panel, and the page.
std::vector<BandPoint> within(std::vector<BandPoint> points, const Domain& y) {
  for (BandPoint& point : points) {
    for (double* value : {&point.mean, &point.low, &point.high}) {
      *value = std::clamp(*value, y.from, y.to);
    }
  }
  return points;
}

// The outline of the band: along the highs and back along the lows.
std::string band_path(const std::vector<BandPoint>& points, const LinearScale& x,
                      const LinearScale& y) {
  PathData path;
  for (const BandPoint& point : points) {
    path.empty() ? path.move(x(point.x), y(point.high)) : path.draw(x(point.x), y(point.high));
  }
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    path.draw(x(point->x), y(point->low));
  }
  path.close();
  return path.data();
}

std::string mean_path(const std::vector<BandPoint>& points, const LinearScale& x,
                      const LinearScale& y) {
  PathData path;
  for (const BandPoint& point : points) {
    path.empty() ? path.move(x(point.x), y(point.mean)) : path.draw(x(point.x), y(point.mean));
  }
  return path.data();
}

bool has_band(const std::vector<BandPoint>& points) {
  return std::any_of(points.begin(), points.end(),
                     [](const BandPoint& point) { return point.high > point.low; });
}

// "1,10,20": one number of each point, for the script that shows them.
template <class Member>
std::string joined(const std::vector<BandPoint>& points, Member member, double factor) {
  std::string text;
  for (const BandPoint& point : points) {
    if (!text.empty()) text += ',';
    text += number(point.*member * factor);
  }
  return text;
}

void draw_axes(Svg& svg, const LinePanel& panel, const LinearScale& x, const LinearScale& y,
               double right) {
  const std::vector<double> shares = nice_ticks(panel.y.from * 100, panel.y.to * 100, 5);
  const double step = shares.size() > 1 ? shares[1] - shares[0] : 1;
  for (double share : shares) {
    svg.line(kLeft, y(share / 100), right, y(share / 100), "grid");
    svg.text(kLeft - 6, y(share / 100) + 3.5, tick_label(share, step), "tick end");
  }
  const std::vector<double> rounds = whole_ticks(panel.x.from, panel.x.to, 4);
  const double leap = rounds.size() > 1 ? rounds[1] - rounds[0] : 1;
  for (double round : rounds) {
    svg.line(x(round), kBottom, x(round), kBottom + 4, "axis");
    svg.text(x(round), kBottom + 16, tick_label(round, leap), "tick middle");
  }
  svg.line(kLeft, kBottom, right, kBottom, "axis");
}

void draw_line(Svg& svg, const Line& line, const LinearScale& x, const LinearScale& y) {
  const std::vector<BandPoint> drawn = within(line.points, {y.from(), y.to()});
  svg.open("g", {{"class", series_class(line.hue)},
                 {"data-label", clip(line.label, 60)},
                 {"data-x", joined(line.points, &BandPoint::x, 1)},
                 {"data-y", joined(line.points, &BandPoint::mean, 100)},
                 {"data-low", joined(line.points, &BandPoint::low, 100)},
                 {"data-high", joined(line.points, &BandPoint::high, 100)}});
  if (has_band(drawn)) svg.path(band_path(drawn, x, y), {{"class", "band"}});
  if (drawn.size() > 1) {
    svg.path(mean_path(drawn, x, y), {{"class", "mean"}});
  } else {
    svg.circle(x(drawn[0].x), y(drawn[0].mean), 3, {{"class", "dot"}});
  }
  svg.close();
}

// Names at the right ends, pushed apart where lines end close together.
void draw_end_labels(Svg& svg, const LinePanel& panel, const LinearScale& y, double right) {
  struct Label {
    const Line* line = nullptr;
    double place = 0;
  };
  std::vector<Label> labels;
  for (const Line& line : panel.lines) {
    if (!line.points.empty())
      labels.push_back({&line, y(std::clamp(line.points.back().mean, y.from(), y.to()))});
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.place < b.place; });
  for (std::size_t i = 1; i < labels.size(); ++i) {
    labels[i].place = std::max(labels[i].place, labels[i - 1].place + kLabelHeight);
  }
  double lowest = kBottom;
  for (std::size_t i = labels.size(); i-- > 0;) {
    labels[i].place = std::min(labels[i].place, lowest);
    lowest = labels[i].place - kLabelHeight;
  }
  for (const Label& label : labels) {
    svg.text(right + 6, label.place + 4, clip(label.line->label, kLabelCharacters),
             series_class(label.line->hue) + " name");
  }
}

}  // namespace

std::string line_panel(const LinePanel& panel) {
  const double right = kSize.width - (panel.end_labels ? kLabelRoom : 12);
  const LinearScale x(panel.x.from, panel.x.to, kLeft + 4, right - 4);
  const LinearScale y(panel.y.from, panel.y.to, kBottom, kTop);
  Svg svg(kSize, panel.title, panel.description,
          {{"class", "panel lines"},
           {"tabindex", "0"},
           {"data-x0", number(panel.x.from)},
           {"data-x1", number(panel.x.to)},
           {"data-left", number(kLeft + 4)},
           {"data-right", number(right - 4)},
           {"data-top", number(kTop)},
           {"data-bottom", number(kBottom)}});
  svg.text(0, 14, clip(panel.title, 44), "heading");
  draw_axes(svg, panel, x, y, right);
  svg.text(right, kBottom + 28, "round", "tick end");
  // A little room for the width of lines and dots at the edges.
  svg.open("clipPath", {{"id", panel.id}});
  svg.rect(kLeft, kTop - 4, right - kLeft, kBottom - kTop + 8);
  svg.close();
  svg.open("g", {{"clip-path", fmt::format("url(#{})", panel.id)}});
  for (const Line& line : panel.lines) {
    if (!line.points.empty()) draw_line(svg, line, x, y);
  }
  svg.close();
  if (panel.end_labels) draw_end_labels(svg, panel, y, right);
  return svg.finish();
}

}  // namespace boba::sim::report
