#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "simulator/report/client_charts.h"
#include "simulator/report/scale.h"
#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::sim::report {
namespace {

constexpr SvgSize kSize{230, 150};
constexpr double kLeft = 28;
constexpr double kTop = 34;
constexpr double kBottom = 128;

// A layer of the stack, from the bottom up.
struct Layer {
  const char* name;
  double RoundPoint::*count;
};

constexpr Layer kLayers[] = {
    {"honest-in", &RoundPoint::honest_accepted},
    {"honest-out", &RoundPoint::honest_rejected},
    {"byzantine-in", &RoundPoint::byzantine_accepted},
    {"byzantine-out", &RoundPoint::byzantine_rejected},
};

double total(const RoundPoint& point) {
  double sum = 0;
  for (const Layer& layer : kLayers) sum += point.*layer.count;
  return sum;
}

void draw_layers(Svg& svg, std::span<const RoundPoint> rounds, const LinearScale& x,
                 const LinearScale& y) {
  std::vector<double> below(rounds.size(), 0);
  for (const Layer& layer : kLayers) {
    PathData path;
    double sum = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const double top = y(below[i] + rounds[i].*layer.count);
      path.empty() ? path.move(x(rounds[i].round), top) : path.draw(x(rounds[i].round), top);
      sum += rounds[i].*layer.count;
    }
    for (std::size_t i = rounds.size(); i-- > 0;) {
      path.draw(x(rounds[i].round), y(below[i]));
      below[i] += rounds[i].*layer.count;
    }
    path.close();
    if (sum > 0) svg.path(path.data(), {{"class", layer.name}});
  }
}

// "15.0 of 15" in each round.
std::string mean_of(std::span<const RoundPoint> rounds, double RoundPoint::*part,
                    double RoundPoint::*rest) {
  double sum = 0;
  double all = 0;
  for (const RoundPoint& round : rounds) {
    sum += round.*part;
    all += round.*part + round.*rest;
  }
  const auto count = static_cast<double>(rounds.size());
  return fmt::format("{:.1f} of {:.0f}", sum / count, all / count);
}

std::string wrongs(std::span<const RoundPoint> rounds) {
  const std::string out =
      "honest out " + mean_of(rounds, &RoundPoint::honest_rejected, &RoundPoint::honest_accepted);
  const bool attackers = std::any_of(rounds.begin(), rounds.end(), [](const RoundPoint& round) {
    return round.byzantine_accepted + round.byzantine_rejected > 0;
  });
  if (!attackers) return out;
  return "Byz. in " +
         mean_of(rounds, &RoundPoint::byzantine_accepted, &RoundPoint::byzantine_rejected) + ", " +
         out;
}

}  // namespace

std::vector<RoundPoint> mean_rounds(std::span<const RunData* const> runs) {
  std::map<int, std::pair<std::size_t, RoundPoint>> sums;
  std::size_t filled = 0;
  for (const RunData* run : runs) {
    if (!run->rounds.empty()) ++filled;
    for (const RoundPoint& point : run->rounds) {
      auto& [count, sum] = sums[point.round];
      ++count;
      sum.round = point.round;
      for (const Layer& layer : kLayers) sum.*layer.count += point.*layer.count;
    }
  }
  std::vector<RoundPoint> means;
  for (auto& entry : sums) {
    RoundPoint& point = entry.second.second;
    if (entry.second.first != filled) continue;
    for (const Layer& layer : kLayers) point.*layer.count /= static_cast<double>(filled);
    means.push_back(point);
  }
  return means;
}

std::string verdict_panel(const std::string& title, std::span<const RoundPoint> rounds) {
  double most = 1;
  for (const RoundPoint& round : rounds) most = std::max(most, total(round));
  const std::string summary = wrongs(rounds);
  Svg svg(kSize, title, "Mean over rounds and seeds: " + summary, {{"class", "panel verdicts"}});
  svg.text(0, 12, clip(title, 30), "heading");
  svg.text(0, 26, summary, "note");
  const double right = kSize.width - 8;
  const LinearScale x(rounds.front().round, rounds.back().round, kLeft, right);
  const LinearScale y(0, most, kBottom, kTop);
  if (rounds.size() == 1) {
    // One round has no width: a bar of it.
    const RoundPoint pair[] = {rounds[0], [&] {
                                 RoundPoint next = rounds[0];
                                 ++next.round;
                                 return next;
                               }()};
    draw_layers(svg, pair, LinearScale(pair[0].round, pair[1].round, kLeft, right), y);
  } else {
    draw_layers(svg, rounds, x, y);
  }
  for (double tick : whole_ticks(0, most, 2)) {
    svg.line(kLeft - 3, y(tick), kLeft, y(tick), "axis");
    svg.text(kLeft - 5, y(tick) + 3.5, tick_label(tick, 1), "tick end");
  }
  for (double tick : whole_ticks(rounds.front().round, rounds.back().round, 3)) {
    svg.text(x(tick), kBottom + 14, tick_label(tick, 1), "tick middle");
  }
  svg.line(kLeft, kBottom, right, kBottom, "axis");
  return svg.finish();
}

}  // namespace boba::sim::report
