#include "boba/rules/boba_hull.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "boba/core/copies.h"
#include "boba/core/rule.h"
#include "boba/rules/hull_fit.h"
#include "boba/rules/select.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Constancy: judged after so many rounds; a mix may move by so many squared typical moves, and the
// typical move counts as at least this share of the squared typical distance.
constexpr std::uint64_t kRoundsBeforeJudged = 5;
constexpr double kMoves = 16;
constexpr double kLeastMove = 0.1;
// The mean mix follows with 1/rounds, but never slower than this.
constexpr double kSlowest = 0.05;
// Suspicion: the share of late rounds in which a client failed, each round weighing this much.
constexpr double kSuspicionStep = 0.02;
constexpr double kMostSuspicion = 0.3;

// What the memory keeps of a client: suspicion, whether it was accepted last time, its mean mix.
struct Known {
  double suspicion = 0;
  bool accepted = false;
  VectorXd mix;

  static std::size_t width(std::size_t classes) { return 2 + classes; }

  explicit Known(std::size_t classes)
      : mix(VectorXd::Constant(static_cast<Index>(classes), 1.0 / static_cast<double>(classes))) {}
  // REQUIRES: state has width(classes) numbers. They may come from a file: any numbers will do.
  explicit Known(std::span<const double> state)
      : suspicion(std::clamp(state[0], 0.0, 1.0)),
        accepted(state[1] > 0),
        mix(Eigen::Map<const VectorXd>(state.data() + 2, static_cast<Index>(state.size()) - 2)) {
    mix = mix.cwiseMax(0.0).cwiseMin(1.0);
    const double sum = mix.sum();
    mix = sum > 0 ? VectorXd(mix / sum)
                  : VectorXd::Constant(mix.size(), 1.0 / static_cast<double>(mix.size()));
  }

  void judge(bool failed) { suspicion += kSuspicionStep * ((failed ? 1.0 : 0.0) - suspicion); }
  std::vector<double> state() const {
    std::vector<double> numbers = {suspicion, accepted ? 1.0 : 0.0};
    numbers.insert(numbers.end(), mix.data(), mix.data() + mix.size());
    return numbers;
  }
};

// How far each client's label mix has moved from what it was; none for clients that are not judged.
struct Moves {
  std::vector<std::optional<double>> squares;
  double limit = std::numeric_limits<double>::infinity();  // of a square
};

class BobaHull final : public Rule {
 public:
  explicit BobaHull(const BobaHullOptions& options) : options_(options) {}

  Need need() const override { return options_.classes > 0 ? Need::kGram : Need::kServerGram; }
  std::optional<int> tolerance() const override { return options_.f; }
  Traits traits() const override {
    return {.shifts = options_.classes > 0, .scales = true, .robust = true};
  }
  std::size_t memory_width(const Shape& shape) const override {
    return Known::width(classes(shape));
  }
  std::vector<double> after_refusal(std::span<const double> state,
                                    const Shape& shape) const override {
    Known known = state.empty() ? Known(classes(shape)) : Known(state);
    known.judge(true);
    known.accepted = false;
    return known.state();
  }

  Result<void> admits(const Shape& shape) const override {
    if (classes(shape) == 0) {
      return invalid_argument(
          "boba-hull needs server gradients, one per class; got none. Without server data, tell it "
          "the number of classes: boba-hull(f=..., classes=10)");
    }
    if (Result<void> good = needs_more_than_f("boba-hull", shape, options_.f); !good) return good;
    if (options_.classes == 0) return {};
    const std::size_t kept = shape.clients - shape.tolerated(options_.f);
    if (kept >= classes(shape)) return {};
    return invalid_argument(
        fmt::format("boba-hull(classes={}) looks for the corners among n - f clients and needs as "
                    "many; n - f is {}",
                    options_.classes, kept));
  }

  Result<Decision> decide(RowSpace& rows) const override {
    return decide_from(rows,
                       [&](const Gram& gram) { return weigh(gram, rows.shape(), rows.past()); });
  }

 private:
  std::size_t classes(const Shape& shape) const {
    return options_.classes > 0 ? static_cast<std::size_t>(options_.classes) : shape.classes;
  }

  Result<Decision> weigh(const Gram& gram, const Shape& shape, const Past* past) const {
    if (options_.classes == 0 && gram.servers() > 1 && !servers_differ(gram)) {
      return invalid_argument(fmt::format(
          "boba-hull: the {} server gradients are all equal, so they name no classes; compute each "
          "on the samples of one class",
          gram.servers()));
    }
    const std::size_t n = gram.clients();
    const std::size_t f = shape.tolerated(options_.f);
    std::vector<Known> known;
    for (std::size_t i = 0; past != nullptr && i < n; ++i) {
      const auto& client = past->rows[i];
      known.push_back(client.state.empty() ? Known(classes(shape)) : Known(client.state));
    }
    const Copies spare = spare_copies(near_copies(gram), f, past, known);
    std::vector<std::size_t> counted;
    for (std::size_t i = 0; i < n; ++i) {
      if (!spare[i]) counted.push_back(i);
    }
    const std::size_t near = std::max<std::size_t>(1, counted.size() > f ? counted.size() - f : 0);
    const HullFit fit = fit_hull(gram, begin(gram, classes(shape), counted, near, past, known),
                                 counted, near, options_.kappa, options_.max_passes);

    Decision decision;
    decision.rows.resize(n);
    const double limit = options_.kappa * fit.typical;
    const Moves moves = past == nullptr ? Moves{} : moves_of(fit, *past, known);
    std::vector<bool> failed(n);
    for (std::size_t i = 0; i < n; ++i) {
      RowDecision& row = decision.rows[i];
      const double distance = std::sqrt(fit.sq_distance[i]);
      const double multiple = in_multiples(distance, fit.typical);
      const VectorXd mix = fit.shares.col(static_cast<Index>(i));
      row.label_mix.assign(mix.data(), mix.data() + mix.size());
      row.measures.push_back({"distance", multiple});
      if (!(distance <= limit)) {
        failed[i] = true;
        row.reason = fmt::format(
            "rejected: {:.3g} typical distances from the simplex of the classes; {:g} may be",
            multiple, options_.kappa);
      }
      if (past == nullptr) continue;
      if (moves.squares[i]) {
        const double moved = std::sqrt(*moves.squares[i]);
        row.measures.push_back({"mix_change", in_multiples(moved, fit.typical)});
        if (!failed[i] && !(*moves.squares[i] <= moves.limit)) {
          failed[i] = true;
          row.reason = fmt::format(
              "rejected: its label mix is {:.3g} typical distances from that of its earlier "
              "rounds; {:.3g} may be",
              in_multiples(moved, fit.typical), in_multiples(std::sqrt(moves.limit), fit.typical));
        }
      }
      Known& client = known[i];
      client.judge(failed[i]);
      row.measures.push_back({"suspicion", client.suspicion});
      if (!failed[i] && client.suspicion > kMostSuspicion) {
        failed[i] = true;
        row.reason =
            fmt::format("rejected: it failed in {:.0f} % of its late rounds; {:.0f} % may be",
                        100 * client.suspicion, 100 * kMostSuspicion);
      }
      const double step = std::max(1 / static_cast<double>(past->rows[i].seen + 1), kSlowest);
      client.mix += step * (mix - client.mix);
    }
    accept(fit, failed, spare, f, decision);
    for (std::size_t i = 0; i < known.size(); ++i) {
      known[i].accepted = decision.rows[i].accepted;
      decision.rows[i].state = known[i].state();
    }
    // What is counted as 0 must be little beside the typical distance.
    const double typical = fit.typical * fit.typical;
    decision.condition = typical > 0 ? std::max(1.0, fit.lost / (gram.rounding() * typical))
                                     : std::numeric_limits<double>::infinity();
    add_remarks(fit, shape, past, decision);
    return decision;
  }

  static bool servers_differ(const Gram& gram) {
    for (std::size_t z = gram.clients() + 1; z < gram.size(); ++z) {
      if (gram.sq_distance(gram.clients(), z) > 0) return true;
    }
    return false;
  }

  static double in_multiples(double distance, double typical) {
    return distance == 0 ? 0 : distance / typical;
  }

  // Of each group of copies one counts: the least suspicious, then the one seen most often. A group
  // larger than f + 1 has honest members, and so do the copies if they are more than f in all; then
  // all count. Gives, for each client that does not count, the one that counts for it.
  static Copies spare_copies(const Copies& copies, std::size_t f, const Past* past,
                             const std::vector<Known>& known) {
    const auto rank = [&](std::size_t i) {
      return past == nullptr
                 ? std::tuple(0.0, 0.0, i)
                 : std::tuple(known[i].suspicion, -static_cast<double>(past->rows[i].seen), i);
    };
    Copies spare(copies.size());
    std::size_t count = 0;
    for (const std::vector<std::size_t>& group : copy_groups(copies)) {
      if (group.size() > f + 1) continue;
      const std::size_t best = *std::ranges::min_element(group, {}, rank);
      for (std::size_t i : group) {
        if (i != best) spare[i] = best;
      }
      count += group.size() - 1;
    }
    return count <= f ? spare : Copies(copies.size());
  }

  // The server's rows; without them the clients that were accepted last time, and else this
  // round's.
  HullStart begin(const Gram& gram, std::size_t classes, std::span<const std::size_t> counted,
                  std::size_t near, const Past* past, const std::vector<Known>& known) const {
    if (options_.classes == 0) {
      std::vector<std::size_t> server(gram.servers());
      std::iota(server.begin(), server.end(), gram.clients());
      return corners_at(gram, server);
    }
    std::vector<std::size_t> trusted;
    for (std::size_t i : counted) {
      if (past != nullptr && past->rows[i].seen > 0 && known[i].accepted) trusted.push_back(i);
    }
    // Fewer do not show every corner.
    if (trusted.size() < std::max(classes, near / 2)) {
      return corners_among_clients(gram, counted, near, classes);
    }
    MatrixXd mixes(static_cast<Index>(classes), static_cast<Index>(trusted.size()));
    for (std::size_t k = 0; k < trusted.size(); ++k) {
      mixes.col(static_cast<Index>(k)) = known[trusted[k]].mix;
    }
    return corners_of_mixes(gram, trusted, mixes, trusted);
  }

  static Moves moves_of(const HullFit& fit, const Past& past, const std::vector<Known>& known) {
    Moves moves;
    moves.squares.resize(known.size());
    std::vector<double> judged;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (past.rows[i].seen < kRoundsBeforeJudged) continue;
      const VectorXd change = fit.shares.col(static_cast<Index>(i)) - known[i].mix;
      moves.squares[i] = (fit.corners * change).squaredNorm();
      judged.push_back(*moves.squares[i]);
    }
    if (judged.empty()) return moves;
    const auto middle = judged.begin() + static_cast<std::ptrdiff_t>(judged.size() / 2);
    std::nth_element(judged.begin(), middle, judged.end());
    moves.limit = kMoves * std::max(*middle, kLeastMove * fit.typical * fit.typical);
    return moves;
  }

  // Accepts those that passed; if fewer than n - 2f did, the nearest of the others too. n: those
  // that count.
  static void accept(const HullFit& fit, const std::vector<bool>& failed, const Copies& spare,
                     std::size_t f, Decision& decision) {
    std::size_t n = 0;
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < failed.size(); ++i) {
      if (spare[i]) continue;
      ++n;
      if (!failed[i]) ++accepted;
    }
    const std::size_t least = std::max<std::size_t>(1, n > 2 * f ? n - 2 * f : 0);
    std::vector<bool> filled(failed.size(), false);
    if (accepted < least) {
      std::vector<double> squares = fit.sq_distance;
      for (std::size_t i = 0; i < failed.size(); ++i) {
        if (spare[i]) {
          squares[i] = std::numeric_limits<double>::infinity();
        } else if (!failed[i]) {
          squares[i] = -1;
        }
      }
      for (std::size_t i : smallest(squares, least)) filled[i] = failed[i];
      decision.warnings.push_back(
          fmt::format("{} clients passed, fewer than n - 2f = {}: the nearest of the others were "
                      "accepted too",
                      accepted, least));
      accepted = least;
    }
    for (std::size_t i = 0; i < failed.size(); ++i) {
      RowDecision& row = decision.rows[i];
      row.accepted = (!failed[i] && !spare[i]) || filled[i];
      row.weight = row.accepted ? 1 / static_cast<double>(accepted) : 0;
      const double multiple = row.measures.front().value;
      if (filled[i]) {
        row.reason = fmt::format(
            "accepted to have n - 2f: {:.3g} typical distances from the simplex", multiple);
      } else if (!failed[i] && spare[i]) {
        row.reason = "left out: a copy of another client's update, which counts once";
      } else if (!failed[i]) {
        row.reason = fmt::format(
            "accepted: {:.3g} typical distances from the simplex of the classes", multiple);
      }
    }
  }

  void add_remarks(const HullFit& fit, const Shape& shape, const Past* past,
                   Decision& decision) const {
    const std::size_t n = shape.clients;
    const std::size_t f = shape.tolerated(options_.f);
    const std::size_t c = classes(shape);
    decision.measures = {{"typical_distance", fit.typical},
                         {"passes", static_cast<double>(fit.passes)}};
    decision.warnings = [&] {
      std::vector<std::string> all = majority_warnings(shape, options_.f);
      all.insert(all.end(), decision.warnings.begin(), decision.warnings.end());
      return all;
    }();
    if (n < 2 * f + c) {
      decision.warnings.push_back(fmt::format(
          "honest clients must hold every class: n - 2f >= c is needed; got n={}, f={}, c={}", n, f,
          c));
    }
    if (!fit.settled) {
      decision.warnings.push_back(
          fmt::format("the fit stopped after max_passes={} planes; the set still changed",
                      options_.max_passes));
    }
    if (fit.plane.rank() + 1 < c) {
      decision.notes.push_back(
          fmt::format("the fitted updates span {} of c - 1 = {} directions; the others were "
                      "dropped",
                      fit.plane.rank(), c - 1));
    }
    if (past == nullptr) {
      decision.notes.emplace_back(
          "no memory of earlier rounds: whether label mixes stay the same was not tested");
    }
  }

  BobaHullOptions options_;
};

}  // namespace

Result<Aggregator> make_boba_hull(const BobaHullOptions& options) {
  return make_named<Aggregator, BobaHull>(options);
}

}  // namespace boba
