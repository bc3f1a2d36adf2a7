#include "tests/hunt/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "boba/core/random.h"

namespace boba::hunt {
namespace {

// How far out a row may lie: times the n - f nearest. Less where sums of rows may cancel.
constexpr double kReach = 0x1p26;
constexpr double kReachInSums = 0x1p20;
constexpr double kReachInRowType = 32;
constexpr double kNoiseInDouble = 0x1p-45;

// The round while it shrinks.
struct Intake {
  std::vector<std::size_t> kept;
  std::vector<std::size_t> refused;

  void refuse(const std::vector<bool>& drop) {  // one per kept row
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < kept.size(); ++i) (drop[i] ? refused : rest).push_back(kept[i]);
    kept = std::move(rest);
  }
};

std::size_t tolerated(const RuleUse& use, const Intake& intake) {
  if (!use.has_f()) return intake.kept.empty() ? 0 : (intake.kept.size() - 1) / 2;
  return use.f > intake.refused.size() ? use.f - intake.refused.size() : 0;
}

Intake usable(const Scene& scene) {
  Intake intake;
  const double limit = scene.dtype == DType::kFloat32
                           ? static_cast<double>(std::numeric_limits<float>::max())
                           : 0x1p498;
  for (std::size_t i = 0; i < scene.updates.size(); ++i) {
    const Row& row = scene.updates[i];
    bool good = std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
    // Only a length near the limit needs all its digits.
    if (good && length_of(row) > 0.999 * limit) {
      const ExactRow exact(row);
      good = exact_dot(exact, exact) <= Big(limit) * limit;
    }
    (good ? intake.kept : intake.refused).push_back(i);
  }
  return intake;
}

Products products_of(const Scene& scene, const std::vector<std::size_t>& kept, bool server) {
  std::vector<ExactRow> rows;
  for (std::size_t i : kept) rows.emplace_back(scene.updates[i]);
  if (server) {
    for (const Row& row : scene.server) rows.emplace_back(row);
  }
  Products products;
  products.clients = kept.size();
  products.k = BigMatrix(rows.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      products.k(i, j) = exact_dot(rows[i], rows[j]);
      products.k(j, i) = products.k(i, j);
    }
  }
  return products;
}

Products without(const Products& products, const std::vector<bool>& drop) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < products.k.rows; ++i) {
    if (i >= products.clients || !drop[i]) rows.push_back(i);
  }
  Products rest;
  rest.clients = rows.size() - products.servers();
  rest.k = BigMatrix(rows.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) rest.k(i, j) = products.k(rows[i], rows[j]);
  }
  return rest;
}

Buckets draw_buckets(const Scene& scene, std::size_t n) {
  Buckets buckets;
  const std::size_t s = scene.use.bucket;
  if (s == 0) {
    for (std::size_t i = 0; i < n; ++i) buckets.push_back({i});
    return buckets;
  }
  const StreamKey key{.seed = scene.seed, .round = 0, .purpose = Purpose::kBucketing};
  const std::vector<std::size_t> order = permutation(key, n);
  for (std::size_t first = 0; first < n; first += s) {
    const std::size_t last = std::min(first + s, n);
    if (last - first < s && !scene.use.keep) break;
    buckets.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(first),
                         order.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return buckets;
}

// M K M'.
Products mixed(const Products& products, const Buckets& buckets) {
  std::vector<std::vector<std::size_t>> terms = buckets;
  for (std::size_t z = 0; z < products.servers(); ++z) terms.push_back({products.clients + z});
  Products result;
  result.clients = buckets.size();
  result.k = BigMatrix(terms.size(), terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      Big sum = 0;
      for (std::size_t a : terms[i]) {
        for (std::size_t b : terms[j]) sum += products.k(a, b);
      }
      sum /= static_cast<double>(terms[i].size() * terms[j].size());
      result.k(i, j) = sum;
      result.k(j, i) = sum;
    }
  }
  return result;
}

// What the definition cannot compute, in words.
std::string objection(const Scene& scene, std::size_t n, std::size_t f) {
  const std::string& rule = scene.use.rule;
  if (n == 0) return "nothing left";
  if ((rule == "krum" || rule == "mkrum") && n < f + 3) return "n - f - 2 < 1";
  if (rule == "trmean" && n <= 2 * f) return "n <= 2f";
  if (rule == "avgrej" && n < 2) return "n < 2";
  if (n <= f) return "n <= f";
  return {};
}

// The library forms products in double where sums of rows far out may cancel.
void add_noise(Products& products, std::size_t f, bool sums, const OracleOptions& options) {
  std::vector<Big> squares = from_centre(products);
  std::vector<Big> clients(squares.begin(),
                           squares.begin() + static_cast<std::ptrdiff_t>(products.clients));
  // The library's origin is near the clients, but at none in particular.
  std::vector<Big> sorted = clients;
  std::sort(sorted.begin(), sorted.end());
  for (Big& square : squares) square = std::max(square, sorted[sorted.size() / 2]);
  const std::vector<bool> far = far_out(clients, f, kReachInRowType, {});
  const bool in_double = sums && std::find(far.begin(), far.end(), true) != far.end();
  const double noise = in_double ? std::min(options.noise, kNoiseInDouble) : options.noise;
  Dice dice(options.noise_seed, 78);
  for (std::size_t i = 0; i < squares.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      products.k(i, j) += noise * dice.uniform(-1, 1) * root_of(squares[i]) * root_of(squares[j]);
      products.k(j, i) = products.k(i, j);
    }
  }
}

std::vector<Big> row_weights(const Scene& scene, const Products& products, const Rows& kept,
                             const Buckets& buckets, std::size_t f, const OracleOptions& options) {
  const std::string& rule = scene.use.rule;
  if (rule == "krum" || rule == "mkrum") return krum_weights(products, f, rule == "mkrum");
  if (rule == "geomed") return geomed_weights(products);
  if (rule == "rage" || rule == "rage-raw") {
    return rage_weights(products, f, rule == "rage-raw", options.rage_tie);
  }
  if (rule == "fltrust") return fltrust_weights(products);
  if (rule.starts_with("boba-hull")) return hull_weights(products, f, scene.use, options);
  if (scene.use.family() == Family::kSubspace) return boba_weights(products, f, rule, options);
  const std::vector<BigRow> rows = bucket_means(kept, buckets);
  if (rule == "bygars") return bygars_weights(scene, rows);
  return probing_weights(scene, rows, f, options);
}

}  // namespace

std::vector<std::size_t> smallest_of(const std::vector<Big>& values, std::size_t count) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<Big> from_centre(const Products& products) {
  const std::size_t n = products.clients;
  std::vector<Big> best;
  Big least = -1;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Big> squares;
    for (std::size_t j = 0; j < n; ++j) squares.push_back(products.sq_distance(i, j));
    std::vector<Big> sorted = squares;
    std::sort(sorted.begin(), sorted.end());
    if (least >= 0 && !(sorted[n / 2] < least)) continue;
    least = sorted[n / 2];
    for (std::size_t j = n; j < products.k.rows; ++j) {
      squares.push_back(products.sq_distance(i, j));
    }
    best = std::move(squares);
  }
  return best;
}

std::vector<bool> far_out(const std::vector<Big>& squares, std::size_t f, double reach,
                          const Row& factors) {
  std::vector<bool> far(squares.size(), false);
  if (2 * f >= squares.size()) return far;
  std::vector<Big> sorted = squares;
  std::sort(sorted.begin(), sorted.end());
  const Big bound = sorted[squares.size() - f - 1] * reach * reach;
  for (std::size_t i = 0; i < far.size(); ++i) {
    const double factor = factors.empty() ? 1 : factors[i];
    far[i] = squares[i] * factor * factor > bound;
  }
  return far;
}

OracleAnswer exact_answer(const Scene& scene, const OracleOptions& options) {
  OracleAnswer answer;
  const RuleUse& use = scene.use;
  Intake intake = usable(scene);
  const Family family = use.family();
  const bool by_products = family == Family::kDistance || family == Family::kSubspace ||
                           use.rule == "fltrust" ||
                           (use.bucket > 0 && family != Family::kCoordinate);
  const bool server = family == Family::kSubspace || use.rule == "fltrust";
  Products products;
  if (by_products) products = products_of(scene, intake.kept, server);
  if (options.screen && !intake.kept.empty()) {
    std::vector<bool> far(intake.kept.size(), false);
    const std::size_t f = tolerated(use, intake);
    Row factors;
    if (!options.screen_factors.empty()) {
      for (std::size_t i : intake.kept) factors.push_back(options.screen_factors[i]);
    }
    if (by_products && (use.rule != "fltrust" || use.bucket > 0)) {
      const bool sums = family == Family::kSubspace || use.bucket > 0;
      std::vector<Big> squares = from_centre(products);
      squares.resize(products.clients);
      far = far_out(squares, f, sums ? kReachInSums : kReach, factors);
      products = without(products, far);
    } else if (family == Family::kProbing) {
      std::vector<Big> squares;
      for (std::size_t i : intake.kept) {
        const ExactRow row(scene.updates[i]);
        squares.push_back(exact_dot(row, row));
      }
      far = far_out(squares, f, kReach, factors);
    }
    intake.refuse(far);
  }
  answer.refused = intake.refused;
  std::sort(answer.refused.begin(), answer.refused.end());
  const std::size_t f = use.has_f() ? tolerated(use, intake) : 0;
  const Buckets buckets = draw_buckets(scene, intake.kept.size());
  answer.error = objection(scene, buckets.size(), f);
  if (!answer.error.empty()) return answer;

  Rows kept;
  for (std::size_t i : intake.kept) kept.push_back(scene.updates[i]);
  const double rest = 1 - use.lambda;
  const auto c = static_cast<double>(scene.server.size());
  answer.out.resize(scene.length());
  if (family == Family::kCoordinate) {
    const Row order = coordinate_answer(scene, kept, buckets, f);
    for (std::size_t k = 0; k < order.size(); ++k) {
      Big sum = Big(order[k]) * rest;
      if (use.lambda > 0) {
        for (const Row& row : scene.server) sum += Big(use.lambda) / c * row[k];
      }
      answer.out[k] = to_double(sum);
    }
    return answer;
  }
  if (by_products && options.noise > 0) {
    const bool sums = family == Family::kSubspace || use.bucket > 0;
    add_noise(products, f, sums, options);
  }
  const std::vector<Big> decided =
      row_weights(scene, use.bucket > 0 && by_products ? mixed(products, buckets) : products, kept,
                  buckets, f, options);
  std::vector<Big> weights(kept.size() + scene.server.size());
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    for (std::size_t row : buckets[i]) {
      weights[row] += decided[i] * rest / static_cast<double>(buckets[i].size());
    }
  }
  for (std::size_t z = 0; z < scene.server.size(); ++z) {
    Big& weight = weights[kept.size() + z];
    if (family == Family::kSubspace) weight = decided[buckets.size() + z] * rest;
    if (use.lambda > 0) weight += Big(use.lambda) / c;
  }
  for (const Row& row : scene.server) kept.push_back(row);
  Big sum;
  Big term;
  for (std::size_t k = 0; k < answer.out.size(); ++k) {
    sum = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (weights[i] == 0 || kept[i][k] == 0) continue;
      term = kept[i][k];
      term *= weights[i];
      sum += term;
    }
    answer.out[k] = to_double(sum);
  }
  return answer;
}

}  // namespace boba::hunt
