#include "simulator/report/client_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

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
    {"honest-out", &RoundPoint::honest_left_out},
    {"byzantine-in", &RoundPoint::byzantine_accepted},
    {"byzantine-out", &RoundPoint::byzantine_left_out},
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
      "honest out " + mean_of(rounds, &RoundPoint::honest_left_out, &RoundPoint::honest_accepted);
  const bool attackers = std::any_of(rounds.begin(), rounds.end(), [](const RoundPoint& round) {
    return round.byzantine_accepted + round.byzantine_left_out > 0;
  });
  if (!attackers) return out;
  return "Byz. in " +
         mean_of(rounds, &RoundPoint::byzantine_accepted, &RoundPoint::byzantine_left_out) + ", " +
         out;
}

std::size_t held(const ClientRecord& client) {
  return std::accumulate(client.labels.begin(), client.labels.end(), std::size_t{0});
}

std::vector<double> mix_of(const ClientRecord& client) {
  const auto all = static_cast<double>(std::max<std::size_t>(1, held(client)));
  std::vector<double> mix;
  for (std::size_t count : client.labels) mix.push_back(static_cast<double>(count) / all);
  return mix;
}

// Evenly chosen, the first and the last among them.
template <class T>
std::vector<T> thinned(const std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> chosen;
  for (std::size_t i = 0; i < most; ++i) {
    chosen.push_back(all[i * (all.size() - 1) / (most - 1)]);
  }
  return chosen;
}

// The boxes of each shade in one path: thousands of rectangles would make the page heavy.
class ShadeBoxes {
 public:
  explicit ShadeBoxes(double most) : domain_{0, most} {}

  void add(double share, double x, double y, double width, double height) {
    // Next to nothing is the background.
    if (!(share > 0.005)) return;
    const int shade = std::max(1, bin_of(share, domain_, kShades));
    paths_[static_cast<std::size_t>(shade)].box(x, y, width, height);
  }
  void draw(Svg& svg) const {
    for (std::size_t shade = 0; shade < paths_.size(); ++shade) {
      if (paths_[shade].empty()) continue;
      svg.path(paths_[shade].data(), {{"class", fmt::format("h{}", shade)}});
    }
  }

 private:
  Domain domain_;
  std::array<PathData, kShades> paths_;
};

double largest_share(const std::vector<const ClientRecord*>& clients) {
  double most = 0.2;
  for (const ClientRecord* client : clients) {
    for (double share : mix_of(*client)) most = std::max(most, share);
  }
  return most;
}

// "client 7: 300 Bag, 300 Coat".
std::string describe(const ClientRecord& client, const std::vector<std::string>& classes) {
  std::vector<std::size_t> order(std::min(client.labels.size(), classes.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return client.labels[a] > client.labels[b];
  });
  std::vector<std::string> words;
  for (std::size_t z : order) {
    if (client.labels[z] == 0) break;
    words.push_back(fmt::format("{} {}", client.labels[z], clip(classes[z], 24)));
  }
  std::string text = fmt::format("client {}: {}", client.client, listed(words, 4));
  if (!client.corruption.empty()) text += "; " + clip(client.corruption, 40);
  return text;
}

// Clients of the estimate, honest ones first in their usual order.
std::vector<std::size_t> estimate_order(const RunData& run,
                                        const std::vector<const ClientRecord*>& honest,
                                        std::size_t& honest_rows) {
  std::map<int, std::size_t> places;
  for (std::size_t i = 0; i < run.estimate->clients.size(); ++i) {
    if (i < run.estimate->shares.size()) places[run.estimate->clients[i]] = i;
  }
  std::vector<std::size_t> first;
  for (const ClientRecord* client : honest) {
    const auto place = places.find(client->client);
    if (place == places.end()) continue;
    first.push_back(place->second);
    places.erase(place);
  }
  std::vector<std::size_t> order = thinned(first, kMostClients);
  honest_rows = order.size();
  std::vector<std::size_t> others;
  for (const auto& entry : places) {
    if (entry.first >= run.record.header.honest) others.push_back(entry.second);
  }
  const std::vector<std::size_t> shown = thinned(others, kMostClients / 2);
  order.insert(order.end(), shown.begin(), shown.end());
  return order;
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

std::vector<const ClientRecord*> ordered_clients(const RunData& run) {
  std::vector<const ClientRecord*> clients;
  for (const ClientRecord& client : run.clients) {
    if (client.honest && held(client) > 0) clients.push_back(&client);
  }
  const auto rank = [](const ClientRecord& client) {
    std::vector<std::size_t> order(client.labels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return client.labels[a] > client.labels[b];
    });
    return order;
  };
  std::map<const ClientRecord*, std::vector<std::size_t>> ranks;
  for (const ClientRecord* client : clients) ranks[client] = rank(*client);
  std::stable_sort(
      clients.begin(), clients.end(),
      [&](const ClientRecord* a, const ClientRecord* b) { return ranks[a] < ranks[b]; });
  return clients;
}

std::string partition_strip(const RunData& run, const std::vector<std::string>& classes) {
  constexpr double kWidth = 1120;
  constexpr double kLeft = 110;
  constexpr double kTop = 6;
  const std::vector<const ClientRecord*> clients = thinned(ordered_clients(run), kMostClients);
  const double row = classes.size() > 30 ? 8 : 18;
  const double column = std::min(
      24.0, (kWidth - kLeft) / static_cast<double>(std::max<std::size_t>(1, clients.size())));
  const double bottom = kTop + row * static_cast<double>(classes.size());
  const double right = kLeft + column * static_cast<double>(clients.size());
  Svg svg({kWidth, bottom + 22}, "Labels of the clients",
          fmt::format("{} clients across, {} classes down", clients.size(), classes.size()),
          {{"class", "strip"}});
  svg.rect(kLeft, kTop, right - kLeft, bottom - kTop, {{"class", "ground"}});
  ShadeBoxes boxes(largest_share(clients));
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const std::vector<double> mix = mix_of(*clients[i]);
    for (std::size_t z = 0; z < std::min(mix.size(), classes.size()); ++z) {
      boxes.add(mix[z], kLeft + column * static_cast<double>(i),
                kTop + row * static_cast<double>(z), column > 4 ? column - 1 : column, row - 1);
    }
  }
  boxes.draw(svg);
  for (std::size_t z = 0; row > 10 && z < classes.size(); ++z) {
    svg.text(kLeft - 8, kTop + row * (static_cast<double>(z) + 0.5) + 4, clip(classes[z], 14),
             "label end");
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    svg.rect(kLeft + column * static_cast<double>(i), kTop, column, bottom - kTop,
             {{"class", "catch"}, {"data-tip", describe(*clients[i], classes)}});
  }
  svg.text(kLeft, bottom + 15, fmt::format("{} honest clients →", clients.size()), "tick");
  return svg.finish();
}

std::string label_mix_panel(const std::string& title, const RunData& run,
                            const std::vector<std::string>& classes) {
  constexpr double kBlock = 120;
  constexpr double kGap = 16;
  constexpr double kTop = 50;
  const std::vector<const ClientRecord*> honest = ordered_clients(run);
  std::map<int, const ClientRecord*> by_number;
  for (const ClientRecord* client : honest) by_number[client->client] = client;
  std::size_t honest_rows = 0;
  const std::vector<std::size_t> order = estimate_order(run, honest, honest_rows);
  const double row =
      std::clamp(230.0 / static_cast<double>(std::max<std::size_t>(1, order.size())), 1.0, 8.0);
  const double column = kBlock / static_cast<double>(std::max<std::size_t>(1, classes.size()));
  const double honest_bottom = kTop + row * static_cast<double>(honest_rows);
  const double shift = order.size() > honest_rows ? 8 : 0;
  const double bottom = kTop + row * static_cast<double>(order.size()) + shift;
  Svg svg({kBlock * 2 + kGap + 76, bottom + 6}, title,
          fmt::format("True and estimated label mix of {} clients", order.size()),
          {{"class", "panel mix"}});
  svg.text(0, 14, clip(title, 40), "heading");
  svg.text(kBlock / 2, kTop - 8, "true", "tick middle");
  svg.text(kBlock * 1.5 + kGap, kTop - 8, "estimated", "tick middle");
  svg.rect(0, kTop, kBlock, honest_bottom - kTop, {{"class", "ground"}});
  svg.rect(kBlock + kGap, kTop, kBlock, honest_bottom - kTop, {{"class", "ground"}});
  svg.rect(kBlock + kGap, honest_bottom + shift, kBlock, bottom - honest_bottom - shift,
           {{"class", "ground"}});
  ShadeBoxes boxes(largest_share(honest));
  const auto draw = [&](const std::vector<double>& mix, double left, double y) {
    for (std::size_t z = 0; z < std::min(mix.size(), classes.size()); ++z) {
      boxes.add(mix[z], left + column * static_cast<double>(z), y, column, row);
    }
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double y = kTop + row * static_cast<double>(i) + (i >= honest_rows ? shift : 0);
    const auto client = by_number.find(run.estimate->clients[order[i]]);
    if (i < honest_rows && client != by_number.end()) draw(mix_of(*client->second), 0, y);
    draw(run.estimate->shares[order[i]], kBlock + kGap, y);
  }
  boxes.draw(svg);
  svg.text(kBlock * 2 + kGap + 8, kTop + 10, "honest", "tick");
  if (shift > 0) svg.text(kBlock * 2 + kGap + 8, honest_bottom + shift + 10, "Byzantine", "tick");
  return svg.finish();
}

}  // namespace boba::sim::report
