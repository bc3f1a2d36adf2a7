#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tests/hunt/generate.h"

namespace boba::hunt {
namespace {

constexpr std::size_t kWindow = 2048;  // columns in the middle

// What a liar knows: everything.
struct Known {
  Scene& scene;
  Honest honest;
  std::vector<std::size_t> good;  // rows of the honest
  std::vector<std::size_t> bad;   // rows to write
};

double most_of(const Scene& scene) { return scene.dtype == DType::kFloat32 ? 1e37 : 1e140; }

Row& row(Known& known, std::size_t i) { return known.scene.updates[known.bad[i]]; }

const Row& some_honest(Dice& dice, Known& known) {
  return known.scene.updates[dice.pick(known.good)];
}

// Where a liar starts from: the mean, a copy of somebody, or nothing.
Row start(Dice& dice, Known& known) {
  const double roll = dice.uniform();
  if (roll < 0.5) return known.honest.mean;
  if (roll < 0.8) return some_honest(dice, known);
  return Row(known.scene.length(), 0.0);
}

void add(Row& row, const Row& other, double factor) {
  for (std::size_t k = 0; k < row.size(); ++k) row[k] += factor * other[k];
}

// How far the honest lie from the one in their middle: the screen's s where as many lie as may.
struct Middle {
  Row centre;
  double reach = 0;
};
Middle middle_of(const Known& known) {
  Middle best;
  double least = -1;
  for (std::size_t i : known.good) {
    Row distances;
    for (std::size_t j : known.good) {
      distances.push_back(distance(known.scene.updates[i], known.scene.updates[j]));
    }
    std::sort(distances.begin(), distances.end());
    const double median = distances[std::min(distances.size() - 1, known.scene.updates.size() / 2)];
    if (least >= 0 && median >= least) continue;
    least = median;
    best = {known.scene.updates[i], distances.back()};
  }
  return best;
}

std::string column(Dice& dice, Known& known) {
  const std::size_t at = pick_column(dice, known.scene.length());
  std::string sizes;
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    row(known, i) = start(dice, known);
    const double size = pick_size(dice, known.scene, known.honest.spread);
    row(known, i)[dice.chance(0.7) ? at : pick_column(dice, known.scene.length())] += size;
    sizes += fmt::format(" {:.3g}", size);
  }
  return fmt::format("column {}:{}", at, sizes);
}

// 1e36, 1e20, 1e12, ... in one column each.
std::string graded(Dice& dice, Known& known) {
  double size = known.honest.spread * std::pow(10, dice.uniform(10, 37));
  if (dice.chance(0.5)) size = most_of(known.scene) / 10;
  std::string sizes;
  const bool same = dice.chance(0.5);
  const std::size_t at = pick_column(dice, known.scene.length());
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    size = std::min(size, most_of(known.scene));
    row(known, i) = known.honest.mean;
    row(known, i)[same ? at : pick_column(dice, known.scene.length())] += size;
    sizes += fmt::format(" {:.3g}", size);
    const double ratio = size / known.honest.spread;
    size = known.honest.spread * std::pow(std::max(ratio, 1.0), dice.uniform(0.3, 0.8));
  }
  return "graded:" + sizes;
}

// +A and -A + delta, or A, A and -2A + delta.
std::string cancelling(Dice& dice, Known& known) {
  const std::size_t length = known.scene.length();
  const std::size_t at = pick_column(dice, length);
  const std::size_t other = pick_column(dice, length);
  const double size = pick_size(dice, known.scene, known.honest.spread);
  const double delta =
      known.honest.spread * std::pow(10, dice.uniform(-2, 1 + std::log10(size) / 2));
  const bool whole = dice.chance(0.3);
  const bool three = dice.chance(0.3);
  Row far(length, 0.0);
  far[at] = size;
  if (whole) {
    for (double& x : far) x = size * dice.normal() / std::sqrt(static_cast<double>(length));
  }
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    row(known, i) = known.honest.mean;
    const double factor = three ? (i % 3 == 2 ? -2.0 : 1.0) : (i % 2 == 1 ? -1.0 : 1.0);
    add(row(known, i), far, factor);
    if (factor < 0 || dice.chance(0.5)) row(known, i)[other] += std::min(delta, size);
  }
  return fmt::format("cancelling {} of {:.3g}{}, {:.3g} in column {}", three ? "triples" : "pairs",
                     size, whole ? "" : fmt::format(" in column {}", at), delta, other);
}

// g = corner_i + t (corner_i - corner_j), and a little beside it.
std::string in_span(Dice& dice, Known& known) {
  const Rows& server = known.scene.server;
  std::string sizes;
  const std::size_t from = dice.below(server.size());
  const std::size_t to = (from + 1 + dice.below(server.size() - 1)) % server.size();
  const bool both = dice.chance(0.4);
  double t = std::pow(10, dice.uniform(0, dice.chance(0.5) ? 8 : 30));
  const double limit =
      0.01 * most_of(known.scene) / (1 + length_of(server[from]) + length_of(server[to]));
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    if (dice.chance(0.3)) t = std::pow(10, dice.uniform(0, 30));
    t = std::min(t, limit);
    const double turned = both && i % 2 == 1 ? -t : t;
    row(known, i) = server[from];
    add(row(known, i), server[from], turned);
    add(row(known, i), server[to], -turned);
    if (dice.chance(0.3)) row(known, i)[pick_column(dice, known.scene.length())] += t * 1e-3;
    sizes += fmt::format(" {:.3g}", turned);
  }
  return fmt::format("in the span {} -> {}:{}", to, from, sizes);
}

// Nothing, denormals and numbers near the smallest.
std::string tiny(Dice& dice, Known& known) {
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    row(known, i).assign(known.scene.length(), 0.0);
    if (dice.chance(0.2)) continue;
    const double least = known.scene.dtype == DType::kFloat32 ? -45 : -323;
    const double size = std::pow(10, dice.uniform(least, least + 20));
    for (double& x : row(known, i)) x = dice.chance(0.5) ? size * dice.normal() : 0;
  }
  return "tiny";
}

std::string near_overflow(Dice& dice, Known& known) {
  const double limit = known.scene.dtype == DType::kFloat32 ? 3.4e38 : 0x1p498;
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    const double size = limit * (dice.chance(0.7) ? dice.uniform(0.1, 0.99) : 1.001);
    row(known, i) = start(dice, known);
    if (dice.chance(0.5)) {
      row(known, i)[pick_column(dice, known.scene.length())] = dice.chance(0.5) ? size : -size;
      continue;
    }
    const double each = size / std::sqrt(static_cast<double>(known.scene.length()));
    for (double& x : row(known, i)) x = dice.chance(0.5) ? each : -each;
  }
  return "near overflow";
}

// Just inside or outside of the screen.
std::string at_bound(Dice& dice, Known& known) {
  const Middle middle = middle_of(known);
  const bool subspace = known.scene.use.family() == Family::kSubspace;
  const bool sums = subspace || known.scene.use.bucket > 0;
  const double bound =
      middle.reach * (subspace && dice.chance(0.5) ? 0x1p10 : (sums ? 0x1p20 : 0x1p26));
  std::string factors;
  Row towards(known.scene.length(), 0.0);
  if (dice.chance(0.5)) {
    towards[pick_column(dice, towards.size())] = 1;
  } else if (subspace && dice.chance(0.6)) {
    add(towards, known.scene.server[0], 1);
    add(towards, known.scene.server[1], -1);
  } else {
    for (double& x : towards) x = dice.normal();
  }
  const double length = std::max(length_of(towards), 1e-300);
  const bool signs = dice.chance(0.5);
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    const double off = std::pow(10, dice.uniform(-7, -0.3));
    const double factor = dice.chance(0.7) ? 1 - off : 1 + off;
    row(known, i) = middle.centre;
    add(row(known, i), towards, (signs && i % 2 == 1 ? -1 : 1) * factor * bound / length);
    factors += fmt::format(" {:.6g}", factor);
  }
  return "at the screen's bound, times" + factors;
}

// The common direction, turned or not, of any length.
std::string along_mean(Dice& dice, Known& known) {
  std::string factors;
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    const double size = length_of(known.honest.mean) + known.honest.spread;
    double factor = pick_size(dice, known.scene, known.honest.spread) / size;
    if (dice.chance(0.5)) factor = -factor;
    row(known, i).assign(known.scene.length(), 0.0);
    add(row(known, i), known.honest.mean, factor);
    factors += fmt::format(" {:.3g}", factor);
  }
  return "mean times" + factors;
}

std::string noise(Dice& dice, Known& known) {
  double size = pick_size(dice, known.scene, known.honest.spread);
  if (dice.chance(0.5)) size = known.honest.spread * std::pow(10, dice.uniform(-1, 6));
  const double each = size / std::sqrt(static_cast<double>(known.scene.length()));
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    row(known, i) = start(dice, known);
    for (double& x : row(known, i)) x += each * dice.normal();
  }
  return fmt::format("noise of {:.3g}", size);
}

std::string copies(Dice& dice, Known& known) {
  const Row one = some_honest(dice, known);
  const bool shift = dice.chance(0.5);
  const double size = known.honest.spread * std::pow(10, dice.uniform(-12, 2));
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    row(known, i) = one;
    if (shift) row(known, i)[pick_column(dice, one.size())] += size;
  }
  return fmt::format("copies of an honest row{}", shift ? fmt::format(" plus {:.3g}", size) : "");
}

std::string identical(Dice& dice, Known& known) {
  Known first = known;
  first.bad.resize(1);
  const std::string how = dice.chance(0.5) ? column(dice, first) : along_mean(dice, first);
  for (std::size_t i = 1; i < known.bad.size(); ++i) row(known, i) = row(known, 0);
  return "identical: " + how;
}

// Pairs as far apart as copies of boba-hull may just be, or just not.
std::string near_copies(Dice& dice, Known& known) {
  Row nearest;
  for (std::size_t i : known.good) {
    Row others;
    for (std::size_t j : known.good) {
      if (j != i) others.push_back(distance(known.scene.updates[i], known.scene.updates[j]));
    }
    if (!others.empty()) nearest.push_back(*std::min_element(others.begin(), others.end()));
  }
  std::sort(nearest.begin(), nearest.end());
  const double limit = nearest.empty() ? 0 : 0.1 * nearest[nearest.size() / 2];
  const bool each_other = dice.chance(0.5);
  std::string factors;
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    const double off = std::pow(10, dice.uniform(-7, -0.3));
    const double factor = dice.chance(0.5) ? 1 - off : 1 + off;
    const Row from = each_other && i % 2 == 1 ? row(known, i - 1) : some_honest(dice, known);
    Row towards(from.size());
    for (double& x : towards) x = dice.normal();
    row(known, i) = from;
    add(row(known, i), towards, factor * limit / std::max(length_of(towards), 1e-300));
    factors += fmt::format(" {:.6g}", factor);
  }
  return "near copies, at their bound times" + factors;
}

// A label mix, perhaps one that nobody can have, and a little beside it.
std::string beside_simplex(Dice& dice, Known& known) {
  const Rows& server = known.scene.server;
  const auto c = static_cast<double>(server.size());
  const bool together = dice.chance(0.5);
  Row mix;
  std::string offs;
  for (std::size_t i = 0; i < known.bad.size(); ++i) {
    if (!together || i == 0) {
      mix.assign(server.size(), 0.0);
      const double first = dice.chance(0.5) ? 1 : dice.uniform();
      mix[dice.below(mix.size())] += first;
      mix[dice.below(mix.size())] += 1 - first;
      const double stretch = dice.chance(0.5) ? 1 : std::pow(10, dice.uniform(-1, 2));
      for (double& share : mix) share = 1 / c + stretch * (share - 1 / c);
    }
    Row off(known.scene.length(), 0.0);
    if (dice.chance(0.5)) {
      off[pick_column(dice, off.size())] = 1;
    } else {
      for (double& x : off) x = dice.normal();
    }
    const double size = known.honest.spread * std::pow(10, dice.uniform(-6, 1));
    row(known, i).assign(off.size(), 0.0);
    for (std::size_t z = 0; z < server.size(); ++z) add(row(known, i), server[z], mix[z]);
    add(row(known, i), off, size / std::max(length_of(off), 1e-300));
    offs += fmt::format(" {:.3g}", size);
  }
  return fmt::format("beside the label mix {:.3g}:{}", fmt::join(mix, " "), offs);
}

using Kind = std::string (*)(Dice&, Known&);
constexpr Kind kKinds[] = {column,        graded,      cancelling,    in_span, tiny,
                           near_overflow, at_bound,    along_mean,    noise,   copies,
                           identical,     near_copies, beside_simplex};

void finish(Scene& scene) {
  const double most = scene.dtype == DType::kFloat32 ? 3.4e38 : 1e150;
  for (std::size_t i = 0; i < scene.updates.size(); ++i) {
    if (!scene.liar[i]) continue;
    for (double& x : scene.updates[i]) {
      if (std::isnan(x)) x = 0;
      x = fitted(std::clamp(x, -most, most), scene.dtype);
    }
  }
}

}  // namespace

std::size_t pick_column(Dice& dice, std::size_t length) {
  const std::size_t window = length > kWindow ? (length - kWindow) / 2 : 0;
  std::size_t column = 0;
  switch (dice.below(7)) {
    case 0:
      column = 0;
      break;
    case 1:
      column = length - 1;
      break;
    case 2:
      column = window + dice.below(kWindow);
      break;
    case 3:
      column = window == 0 ? 0 : window - 1;
      break;
    case 4:
      column = window + kWindow;
      break;
    case 5:
      column = 256 * dice.between(1, 4) - dice.below(2);
      break;
    default:
      column = dice.below(length);
  }
  return column < length ? column : dice.below(length);
}

double pick_size(Dice& dice, const Scene& scene, double spread) {
  const double most = most_of(scene);
  if (dice.chance(0.3)) {
    const std::vector<double> known = {1e36, 1e30, 1e20, 1e12, 1e8, 1e4};
    return std::min(dice.pick(known), most);
  }
  const double range = std::log10(most / spread);
  return std::min(most, spread * std::pow(10, dice.uniform(-1, dice.chance(0.5) ? 12 : range)));
}

void write_liars(Dice& dice, Scene& scene) {
  Known known{scene, honest_part(scene), {}, {}};
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < scene.liar.size(); ++i) {
    (scene.liar[i] ? all : known.good).push_back(i);
  }
  while (!all.empty()) {
    const std::size_t count = dice.chance(0.6) ? all.size() : dice.between(1, all.size());
    known.bad.assign(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
    all.resize(all.size() - count);
    const std::size_t kind = dice.below(std::size(kKinds));
    scene.story += fmt::format("; {} liars: {}", count, kKinds[kind](dice, known));
  }
  finish(scene);
}

void reorder(Dice& dice, Scene& scene) {
  std::vector<std::size_t> order(scene.updates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t how = dice.below(3);
  if (how == 0) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scene.liar[a] && !scene.liar[b]; });
  } else if (how == 1) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[dice.below(i)]);
  }
  Rows rows;
  std::vector<bool> liar;
  for (std::size_t i : order) {
    rows.push_back(std::move(scene.updates[i]));
    liar.push_back(scene.liar[i]);
  }
  scene.updates = std::move(rows);
  scene.liar = std::move(liar);
}

}  // namespace boba::hunt
