#include "tests/hunt/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace boba::hunt {
namespace {

constexpr double kMostScore = 1e-3;
constexpr int kPerturbations = 24;
constexpr double kLost = 1e3;          // deviations from here on are lost rounds
constexpr double kScreenDoubt = 1e-3;  // rows this near to the screen's bound may go either way
constexpr double kSketchFloor = 20;    // deviations that sketches may reach
constexpr double kSketchGrowth = 4;
constexpr int kOtherSeeds = 8;
constexpr double kLossTie = 0x1p-49;  // of a subset's total: the library cannot tell less apart
constexpr double kSketchNoise = 1.0 / 16;  // of a product, at the shortest length

double unit(DType dtype) { return dtype == DType::kFloat32 ? 0x1p-24 : 0x1p-53; }

// Rounding of products that the library may have; docs/numerics.md allows more.
double noise_of(DType dtype) { return dtype == DType::kFloat32 ? 0x1p-20 : 0x1p-45; }

// Differences that the output's own type cannot show do not count.
double score_of(const Row& out, const Row& exact, const Scene& scene, double spread) {
  const double off = distance(out, exact);
  if (std::isnan(off)) return std::numeric_limits<double>::infinity();
  const double scale = scene.use.rule == "bygars" ? std::max(spread, length_of(exact)) : spread;
  return std::max(0.0, off - 2 * unit(scene.dtype) * length_of(exact)) / scale;
}

// The scene with every row moved by less than what its products may be off.
Scene moved(const Scene& scene, double spread, Dice& dice) {
  Scene other = scene;
  const double size = spread * (scene.dtype == DType::kFloat32 ? 1e-5 : 1e-9) /
                      std::sqrt(static_cast<double>(scene.length()));
  for (Rows* rows : {&other.updates, &other.server}) {
    for (Row& row : *rows) {
      for (double& x : row) x += size * dice.normal();
    }
  }
  return other;
}

// Whether rounding explains the library's answer.
Outcome explained(const Scene& scene, const Row& out, const Row& exact, double spread,
                  const JudgeOptions& options) {
  Dice dice(scene.seed, 77);
  double change = 0;
  for (int i = 0; i < kPerturbations; ++i) {
    OracleOptions oracle{.screen = options.screen,
                         .fit_factor = 1 + kScreenDoubt * dice.uniform(-1, 1)};
    for (std::size_t k = 0; k < scene.updates.size(); ++k) {
      oracle.screen_factors.push_back(1 + kScreenDoubt * dice.uniform(-1, 1));
    }
    oracle.noise = noise_of(scene.dtype);
    oracle.noise_seed = scene.seed + static_cast<std::uint64_t>(i);
    if (i % 2 == 1) {
      // The library allows 16 roundings of the squares (boba/core/copies.cc).
      oracle.copy_tie = 16 * noise_of(DType::kFloat64);
      oracle.rage_tie = scene.dtype == DType::kFloat32 ? 1e-5 : 1e-9;
      // What is left of a weight may be little, but more than rounding.
      if (i % 4 == 3) oracle.rage_tie /= 64;
      oracle.loss_tie = i % 4 == 1 ? oracle.noise : oracle.noise / 256;
    }
    // Rows that are equal, or differ by less than rounding, are equal to the library. Moved rows
    // never are, so a quarter of the draws leaves them where they are, half of these with exact
    // products.
    if (i % 8 == 7) {
      oracle.noise = 0;
      oracle.loss_tie = kLossTie;
      oracle.residual_tie = noise_of(DType::kFloat64);
    }
    const OracleAnswer other =
        exact_answer(i % 4 == 3 ? scene : moved(scene, spread, dice), oracle);
    if (!other.error.empty()) continue;
    if (score_of(out, other.out, scene, spread) <= kMostScore) return Outcome::kNearTie;
    change = std::max(change, distance(other.out, exact));
  }
  return distance(out, exact) <= 2 * change ? Outcome::kSensitive : Outcome::kWrong;
}

// The same round with the liars' rows replaced by honest ones.
Scene without_liars(const Scene& scene) {
  Scene other = scene;
  std::size_t good = 0;
  for (std::size_t i = 0; i < scene.updates.size(); ++i) {
    if (!scene.liar[i]) continue;
    while (scene.liar[good % scene.updates.size()]) ++good;
    other.updates[i] = scene.updates[good++ % scene.updates.size()];
    while (scene.liar[good % scene.updates.size()]) ++good;
  }
  return other;
}

// Rules that look at directions from 0 are off by a share of the common part, which may be many
// spreads; without stage 2 boba averages every projection; subsets of boba-es hardly differ.
bool robust_in_sketches(const RuleUse& use) {
  return use.rule != "fltrust" && use.rule != "bygars" && use.rule != "rage-raw" &&
         use.rule != "boba-no-stage2" && use.rule != "boba-es";
}

// Whether a coordinate rule gives this for some numbers in the buckets that liars are in: rounding
// there is as if they had sent other numbers.
bool within_reach(const Scene& scene, const Row& out, double spread) {
  Rows ends;
  for (const double end : {-1e30, 1e30}) {
    Scene other = scene;
    for (std::size_t i = 0; i < scene.updates.size(); ++i) {
      if (scene.liar[i]) other.updates[i].assign(scene.length(), end);
    }
    const OracleAnswer answer = exact_answer(other, {});
    if (!answer.error.empty()) return false;
    ends.push_back(answer.out);
  }
  const double share = kMostScore * spread / std::sqrt(static_cast<double>(scene.length()));
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double slack = share + 4 * unit(scene.dtype) * std::abs(out[k]);
    if (!(out[k] >= ends[0][k] - slack && out[k] <= ends[1][k] + slack)) return false;
  }
  return true;
}

// The seed of a sketch is secret and fresh in each round. Liars who win with one seed alone, where
// two of its columns happen to fall together, have guessed it.
bool lost_with_other_seeds(const Engine& engine, const Scene& scene, const Honest& honest,
                           double allowed) {
  Scene other = scene;
  for (int i = 0; i < kOtherSeeds; ++i) {
    ++other.seed;
    const EngineAnswer answer = engine.run(other);
    if (!answer.error.empty()) continue;
    if (!(distance(answer.out, honest.mean) / honest.spread <= allowed)) return true;
  }
  return false;
}

bool names_rows(const std::string& sentence) {
  return sentence.find("client ") != std::string::npos ||
         sentence.find("clients ") != std::string::npos;
}

}  // namespace

double Judgement::ascent() const {
  if (!error.empty()) return -1;
  return std::log10(1 + engine_deviation) - std::log10(1 + oracle_deviation) +
         0.1 * std::log10(1 + 1e6 * score);
}

Judgement judge(const Engine& engine, const Scene& scene, const JudgeOptions& options) {
  Judgement result;
  const EngineAnswer answer = engine.run(scene);
  if (!answer.error.empty()) {
    result.error = answer.error;
    result.forced = engine.run(without_liars(scene)).error.empty();
    result.outcome =
        result.forced && !names_rows(answer.error) ? Outcome::kForced : Outcome::kError;
    return result;
  }
  const Honest honest = honest_part(scene);
  result.engine_deviation = distance(answer.out, honest.mean) / honest.spread;
  const OracleAnswer exact = exact_answer(scene, {.screen = options.screen});
  if (!exact.error.empty()) {
    result.note = "the definition has no answer: " + exact.error;
    result.outcome = Outcome::kWrong;
    return result;
  }
  result.oracle_deviation = distance(exact.out, honest.mean) / honest.spread;
  result.score = score_of(answer.out, exact.out, scene, honest.spread);
  std::vector<std::size_t> refused;
  for (const ClientVerdict& client : answer.verdict.clients) {
    if (client.refused) refused.push_back(client.index);
  }
  result.note = fmt::format("refused by the library: {}; by the oracle: {}",
                            fmt::join(refused, " "), fmt::join(exact.refused, " "));
  if (scene.sketched()) {
    if (!robust_in_sketches(scene.use)) return result;
    const auto allowed = [&] { return kSketchFloor + kSketchGrowth * result.oracle_deviation; };
    // Products with the noise of sketches, and a bound of the screen that is off by as much: for
    // all rows alike, then for each row by itself.
    Dice dice(scene.seed, 78);
    for (int i = 0; i < kPerturbations && !(result.engine_deviation <= allowed()); ++i) {
      OracleOptions noisy{.screen = options.screen};
      noisy.screen_factors = Row(scene.updates.size(), i % 2 == 0 ? 0.5 : 2.0);
      if (i >= 4) {
        for (double& factor : noisy.screen_factors) factor = dice.uniform(0, 1) < 0.5 ? 0.5 : 2.0;
      }
      noisy.noise = kSketchNoise;
      noisy.noise_seed = scene.seed + static_cast<std::uint64_t>(i);
      const OracleAnswer other = exact_answer(scene, noisy);
      if (!other.error.empty()) continue;
      result.oracle_deviation =
          std::max(result.oracle_deviation, distance(other.out, honest.mean) / honest.spread);
    }
    if (!(result.engine_deviation <= allowed())) {
      result.outcome = lost_with_other_seeds(engine, scene, honest, allowed()) ? Outcome::kWrong
                                                                               : Outcome::kNearTie;
    }
    return result;
  }
  if (result.score <= kMostScore) return result;
  if (scene.use.family() == Family::kCoordinate && within_reach(scene, answer.out, honest.spread)) {
    result.outcome = Outcome::kNearTie;
    return result;
  }
  // A round that the rule loses in exact arithmetic too says little about its digits.
  if (result.oracle_deviation > kLost && result.engine_deviation <= result.oracle_deviation) {
    result.outcome = Outcome::kNearTie;
    return result;
  }
  result.outcome = explained(scene, answer.out, exact.out, honest.spread, options);
  if (result.outcome == Outcome::kWrong &&
      result.engine_deviation <= result.oracle_deviation + kMostScore) {
    result.outcome = Outcome::kAsNear;
  }
  return result;
}

}  // namespace boba::hunt
