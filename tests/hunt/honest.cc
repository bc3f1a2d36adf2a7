#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boba/dist/sharded.h"
#include "boba/rules/registry.h"
#include "tests/hunt/generate.h"

namespace boba::hunt {
namespace {

const std::vector<std::size_t> kLengths = {2, 3, 17, 500, 2048, 8191, 8192, 8193, 9000};
const std::vector<double> kCommon = {0, 1, 3, 100, 1e4, 1e6};

// The largest f that the rule's guarantee admits on n rows, c of the server.
std::size_t most_tolerated(const std::string& rule, std::size_t n, std::size_t c) {
  if (rule == "krum" || rule == "mkrum") return n < 5 ? 0 : (n - 3) / 2;
  if (rule.starts_with("boba")) return n < c ? 0 : (n - c) / 2;
  return (n - 1) / 2;
}

std::size_t pick_length(Dice& dice, const RuleUse& use) {
  if (dice.chance(0.7)) return kLengths[dice.below(3)];
  const Family family = use.family();
  const bool rows =
      family == Family::kProbing || family == Family::kCoordinate || use.rule == "bygars";
  // The oracle of these works on the rows themselves.
  return rows ? kLengths[dice.between(3, 4)] : dice.pick(kLengths);
}

Backend pick_backend(Dice& dice, const RuleUse& use, std::size_t length, bool cuda) {
  if (cuda && dice.chance(0.6)) return Backend::kCuda;
  const double roll = dice.uniform();
  if (roll < 0.5) return Backend::kOneThread;
  if (roll < 0.65) return Backend::kTwoThreads;
  if (roll < 0.8) return Backend::kOpen;
  if (ranks_in_use(length, 2) == 2 && roll < 0.9) {
    // The server's loss would need all columns on one rank.
    const bool probes = use.family() == Family::kProbing || use.rule == "bygars";
    return probes ? Backend::kTwoThreads : Backend::kRanks;
  }
  if (length < 500 || use.family() == Family::kCoordinate) return Backend::kTwoThreads;
  return roll < 0.95 ? Backend::kSketch : Backend::kOpenSketch;
}

// A direction of unit length.
Row direction(Dice& dice, std::size_t length) {
  Row row(length);
  const bool flat = dice.chance(0.5);
  for (double& x : row) x = flat ? 1.0 : dice.normal();
  const double size = length_of(row);
  for (double& x : row) x /= size;
  return row;
}

void add(Row& row, const Row& other, double factor) {
  for (std::size_t k = 0; k < row.size(); ++k) row[k] += factor * other[k];
}

Row noise(Dice& dice, std::size_t length, double size) {
  Row row(length);
  const double each = size / std::sqrt(static_cast<double>(length));
  for (double& x : row) x = each * dice.normal();
  return row;
}

// Shares of the classes of one client: few classes, or all alike.
Row label_shares(Dice& dice, std::size_t c, bool skewed) {
  Row shares(c, skewed ? 0.0 : 1.0 / static_cast<double>(c));
  if (!skewed) return shares;
  const double share = dice.uniform(0.2, 1);
  shares[dice.below(c)] += share;
  shares[dice.below(c)] += 1 - share;
  return shares;
}

void fit_all(Rows& rows, DType dtype) {
  for (Row& row : rows) {
    for (double& x : row) x = fitted(x, dtype);
  }
}

void fill_rows(Dice& dice, Scene& scene, std::size_t n, std::size_t d, std::size_t c) {
  const bool subspace = scene.use.rule.starts_with("boba");
  const bool probes = scene.use.family() == Family::kProbing || scene.use.rule == "bygars";
  // The point w - eta g is rounded to the rows' type: a large common part leaves nothing of the
  // honest rows' differences there, whoever lies.
  const double common = probes ? kCommon[dice.below(3)] : dice.pick(kCommon);
  const double roll = dice.uniform();
  const double size = roll < 0.7 ? 1 : (roll < 0.85 ? 1e-20 : 1e18);
  const bool skewed = dice.chance(subspace ? 0.9 : 0.3);
  const double grain = skewed ? std::pow(10, dice.uniform(-3, -0.5)) : 1;
  const bool equal = dice.chance(0.1);
  const std::size_t columns = dice.chance(0.15) ? dice.between(1, std::min<std::size_t>(d, 3)) : 0;

  Row base(d, 0.0);
  add(base, direction(dice, d), common);
  for (std::size_t k = 0; k < columns; ++k) {
    base[dice.below(d)] += std::pow(10, dice.uniform(1, probes ? 2 : 4));
  }
  Rows corners;
  for (std::size_t z = 0; z < c; ++z) {
    corners.push_back(base);
    add(corners.back(), direction(dice, d), 1);
    add(corners.back(), noise(dice, d, 1), 1);
  }
  for (std::size_t i = 0; i < n; ++i) {
    Row row(d, 0.0);
    if (skewed || subspace) {
      const Row shares = label_shares(dice, c, skewed);
      for (std::size_t z = 0; z < c; ++z) add(row, corners[z], shares[z]);
    } else {
      row = base;
    }
    // Two rows differ at least, or there is no spread to measure by.
    if (!(equal && i > 1 && dice.chance(0.8))) {
      add(row, noise(dice, d, grain), 1);
    } else {
      row = scene.updates.front();
      for (double& x : row) x /= size;
    }
    for (double& x : row) x *= size;
    scene.updates.push_back(std::move(row));
  }
  for (const Row& corner : corners) {
    Row row = corner;
    add(row, noise(dice, d, grain), 0.5);
    for (double& x : row) x *= size;
    scene.server.push_back(std::move(row));
  }
  // The minimum of the loss lies where honest steps lead.
  scene.curvature = noise(dice, d, std::sqrt(static_cast<double>(d)));
  for (double& x : scene.curvature) x = 0.5 + x * x;
  scene.model = noise(dice, d, size);
  scene.centre = scene.model;
  add(scene.centre, base, -scene.eta * size);
  add(scene.centre, noise(dice, d, 0.1 * size), 1);
  for (double& x : scene.model) x = fitted(x, scene.dtype);
  fit_all(scene.updates, scene.dtype);
  fit_all(scene.server, scene.dtype);
  scene.story = fmt::format("honest: common {:g}, size {:g}, {}{}{}, grain {:.2g}", common, size,
                            skewed ? "label skew" : "iid", equal ? ", many equal" : "",
                            columns > 0 ? ", large columns" : "", grain);
}

}  // namespace

const std::vector<std::string>& rule_names() {
  static const std::vector<std::string> names = {
      "coomed",   "trmean",  "krum",           "mkrum",          "geomed",    "rage",
      "rage-raw", "selfrej", "avgrej",         "zeno",           "fltrust",   "bygars",
      "boba",     "boba-es", "boba-no-stage1", "boba-no-stage2", "boba-hull", "boba-hull-found"};
  return names;
}

std::vector<std::string> undefined_rules() {
  // Every liar steers the one, none the other.
  const std::vector<std::string_view> left_out = {"average", "server"};
  std::vector<std::string> undefined;
  for (const RuleEntry& entry : rules()) {
    const std::string name(entry.info.name);
    const auto known = [&](const auto& list) {
      return std::find(list.begin(), list.end(), name) != list.end();
    };
    // Rules behind buckets come as such.
    if (known(rule_names()) || known(left_out) || make_aggregator(name)->ordered()) continue;
    undefined.push_back(name);
  }
  return undefined;
}

Scene honest_scene(Dice& dice, const GenerateOptions& options) {
  Scene scene;
  RuleUse& use = scene.use;
  use.rule = dice.pick(options.rules);
  scene.dtype = dice.chance(0.6) ? DType::kFloat32 : DType::kFloat64;
  scene.seed = 1 + dice.below(1u << 30);
  const std::size_t d = pick_length(dice, use);
  std::size_t c = dice.between(2, 4);
  // c corners span c - 1 directions; residuals need one more.
  c = std::min(c, d);
  if (use.rule == "boba-hull-found" && dice.chance(0.5)) use.classes = c;
  if (dice.chance(0.3)) use.bucket = dice.between(2, 3);
  if (use.bucket > 0) use.keep = dice.chance(0.2);
  if (dice.chance(0.1)) use.lambda = 0.25;
  std::size_t n = dice.chance(0.7) ? dice.between(5, 11) : dice.between(12, 24);
  if (d > 5000) n = dice.between(5, 10);
  if (use.rule == "boba-es") n = dice.between(5, 8);
  if (use.bucket > 0) n = use.rule == "boba-es" ? 7 * use.bucket : std::max<std::size_t>(n, 14);
  const auto rows = [&] { return use.bucket > 0 ? n / use.bucket : n; };
  while (most_tolerated(use.rule, rows(), c) == 0) ++n;
  const std::size_t most = most_tolerated(use.rule, rows(), c);
  use.f = use.rule == "boba-es" ? std::min<std::size_t>(2, most) : dice.between(1, most);
  const std::size_t liars = dice.chance(0.8) ? use.f : dice.between(1, use.f);
  scene.backend = pick_backend(dice, use, d, options.cuda);
  fill_rows(dice, scene, n, d, c);
  scene.liar.assign(n, false);
  std::fill(scene.liar.end() - static_cast<std::ptrdiff_t>(liars), scene.liar.end(), true);
  for (std::size_t i = n - liars; i < n; ++i) scene.updates[i].assign(d, 0.0);
  return scene;
}

Scene generate(Dice& dice, const GenerateOptions& options) {
  Scene scene = honest_scene(dice, options);
  write_liars(dice, scene);
  reorder(dice, scene);
  return scene;
}

}  // namespace boba::hunt
