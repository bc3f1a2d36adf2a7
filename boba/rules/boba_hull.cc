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

// A label mix is judged after kRoundsBeforeJudged rounds. Its squared move may be at most kMoves
// times the typical squared move, which counts as at least kLeastMove times the squared typical
// distance.
constexpr double kRoundsBeforeJudged = 5;
constexpr double kMoves = 16;
constexpr double kLeastMove = 0.1;
// The mean mix follows with 1/rounds, but never slower than this.
constexpr double kSlowest = 0.05;
// Suspicion: the share of recent rounds in which a client failed, each round weighing this much.
constexpr double kSuspicionStep = 0.02;
constexpr double kMostSuspicion = 0.3;
// classes=auto finds at most so many corners.
constexpr std::size_t kMostCorners = 32;

// What the memory keeps of a client. Mixes can be compared if they belong to the same order of
// corners. The server's rows have order 1; corners found among the clients have a new order each
// time they are found.
struct Known {
  double suspicion = 0;
  bool accepted = false;  // last time
  double order = 0;       // 0: its mix is not known
  double rounds = 0;      // that its mean mix is made of
  VectorXd mix;           // empty if it is not known

  static std::size_t width(std::size_t most_corners) { return 5 + most_corners; }

  Known() = default;
  // REQUIRES: state has width() numbers. They may come from a file: any numbers will do.
  explicit Known(std::span<const double> state)
      : suspicion(std::clamp(state[0], 0.0, 1.0)), accepted(state[1] > 0) {
    const std::span<const double> shares = state.subspan(5);
    const double corners = std::clamp(state[4], 0.0, static_cast<double>(shares.size()));
    mix = Eigen::Map<const VectorXd>(shares.data(), static_cast<Index>(corners));
    mix = mix.cwiseMax(0.0).cwiseMin(1.0);
    const double sum = mix.sum();
    if (!(sum > 0) || !(state[2] > 0)) {
      mix.resize(0);
      return;
    }
    mix /= sum;
    order = std::floor(std::min(state[2], 0x1p52));
    rounds = std::clamp(state[3], 0.0, 0x1p52);
  }

  void judge(bool failed) { suspicion += kSuspicionStep * ((failed ? 1.0 : 0.0) - suspicion); }
  // Forgets a mix of another order.
  void meet(double new_order, Index corners) {
    if (order == new_order && mix.size() == corners) return;
    order = new_order;
    rounds = 0;
    mix = VectorXd::Zero(corners);
  }
  void learn(const VectorXd& now) {
    ++rounds;
    mix += std::max(1 / rounds, kSlowest) * (now - mix);
  }
  std::vector<double> state(std::size_t width) const {
    std::vector<double> numbers = {suspicion, accepted ? 1.0 : 0.0, order, rounds,
                                   static_cast<double>(mix.size())};
    numbers.insert(numbers.end(), mix.data(), mix.data() + mix.size());
    numbers.resize(width, 0);
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

  Need need() const override { return searches() ? Need::kGram : Need::kServerGram; }
  std::optional<int> tolerance() const override { return options_.f; }
  Traits traits() const override { return {.shifts = searches(), .scales = true, .robust = true}; }
  std::size_t memory_width(const Shape& shape) const override {
    return Known::width(most_corners(shape));
  }
  std::vector<double> after_refusal(std::span<const double> state,
                                    const Shape& shape) const override {
    Known known = state.empty() ? Known() : Known(state);
    known.judge(true);
    known.accepted = false;
    return known.state(memory_width(shape));
  }

  Result<void> admits(const Shape& shape) const override {
    if (most_corners(shape) == 0) {
      return invalid_argument(
          "boba-hull needs server gradients, one per class; got none. Without server data, tell it "
          "the number of classes, or classes=auto: boba-hull(f=..., classes=10)");
    }
    if (Result<void> good = needs_more_than_f("boba-hull", shape, options_.f); !good) return good;
    if (options_.classes <= 0) return {};
    const std::size_t kept = shape.clients - shape.tolerated(options_.f);
    if (kept >= most_corners(shape)) return {};
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
  // Whether the corners are found among the clients.
  bool searches() const { return options_.classes != 0; }
  std::size_t most_corners(const Shape& shape) const {
    if (options_.classes == kAutoClasses) return kMostCorners;
    return searches() ? static_cast<std::size_t>(options_.classes) : shape.classes;
  }

  Result<Decision> weigh(const Gram& gram, const Shape& shape, const Past* past) const {
    if (!searches() && gram.servers() > 1 && !servers_differ(gram)) {
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
      known.push_back(client.state.empty() ? Known() : Known(client.state));
    }
    bool doubtful = false;
    const Copies spare = spare_copies(near_copies(gram, &doubtful), f, past, known);
    std::vector<std::size_t> counted;
    for (std::size_t i = 0; i < n; ++i) {
      if (!spare[i]) counted.push_back(i);
    }
    const std::size_t near = std::max<std::size_t>(1, counted.size() > f ? counted.size() - f : 0);
    const Beginning start = begin(gram, shape, counted, near, known);
    const HullFit fit =
        fit_hull(gram, start.hull, counted, near, options_.kappa, options_.max_passes);
    for (Known& client : known) client.meet(start.order, fit.corners.cols());

    Decision decision;
    decision.rows.resize(n);
    const double limit = options_.kappa * fit.typical;
    const Moves moves = past == nullptr ? Moves{} : moves_of(fit, known);
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
            "rejected: {:.3g} typical distances from the simplex of the classes; at most {:g} are "
            "allowed",
            multiple, options_.kappa);
      }
      if (past == nullptr) continue;
      if (moves.squares[i]) {
        const double moved = std::sqrt(*moves.squares[i]);
        row.measures.push_back({"mix_change", in_multiples(moved, fit.typical)});
        if (!failed[i] && !(*moves.squares[i] <= moves.limit)) {
          failed[i] = true;
          row.reason = fmt::format(
              "rejected: its label mix moved by {:.3g} typical distances from its earlier rounds; "
              "at most {:.3g} are allowed",
              in_multiples(moved, fit.typical), in_multiples(std::sqrt(moves.limit), fit.typical));
        }
      }
      Known& client = known[i];
      client.judge(failed[i]);
      row.measures.push_back({"suspicion", client.suspicion});
      if (!failed[i] && client.suspicion > kMostSuspicion) {
        failed[i] = true;
        row.reason = fmt::format(
            "rejected: it failed in {:.0f} % of its recent rounds; at most {:.0f} % "
            "are allowed",
            100 * client.suspicion, 100 * kMostSuspicion);
      }
      client.learn(mix);
    }
    accept(fit, failed, spare, f, decision);
    for (std::size_t i = 0; i < known.size(); ++i) {
      known[i].accepted = decision.rows[i].accepted;
      decision.rows[i].state = known[i].state(memory_width(shape));
    }
    // What is counted as 0 must be little beside the typical distance, and rounding must make no
    // copies.
    const double typical = fit.typical * fit.typical;
    decision.condition = typical > 0 && !doubtful
                             ? std::max(1.0, fit.lost / (gram.rounding() * typical))
                             : std::numeric_limits<double>::infinity();
    add_remarks(start, fit, shape, past, decision);
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

  struct Beginning {
    HullStart hull;
    double order = 1;    // of the corners
    bool found = false;  // the corners were found among this round's clients
  };

  // The server's rows; without them the remembered mixes of the clients accepted last time, and
  // else this round's clients.
  Beginning begin(const Gram& gram, const Shape& shape, std::span<const std::size_t> counted,
                  std::size_t near, const std::vector<Known>& known) const {
    if (!searches()) {
      std::vector<std::size_t> server(gram.servers());
      std::iota(server.begin(), server.end(), gram.clients());
      return {.hull = corners_at(gram, server)};
    }
    double order = 0;
    for (const Known& client : known) order = std::max(order, client.order);
    std::vector<std::size_t> trusted;
    for (std::size_t i : counted) {
      if (!known.empty() && known[i].accepted && known[i].order == order && order > 0) {
        trusted.push_back(i);
      }
    }
    const Index corners = trusted.empty() ? 0 : known[trusted.front()].mix.size();
    std::erase_if(trusted, [&](std::size_t i) { return known[i].mix.size() != corners; });
    // Fewer clients do not show every corner. Fewer corners than asked for, or one, are no reason
    // to stop looking.
    const bool enough = trusted.size() >= std::max(static_cast<std::size_t>(corners), near / 2);
    const bool wanted = options_.classes > 0 ? corners == options_.classes : corners > 1;
    if (!enough || !wanted) {
      const std::size_t asked = options_.classes > 0 ? most_corners(shape) : 0;
      return {.hull = corners_among_clients(gram, counted, near, asked, most_corners(shape)),
              .order = order + 1,
              .found = true};
    }
    MatrixXd mixes(corners, static_cast<Index>(trusted.size()));
    for (std::size_t k = 0; k < trusted.size(); ++k) {
      mixes.col(static_cast<Index>(k)) = known[trusted[k]].mix;
    }
    return {.hull = corners_of_mixes(gram, trusted, mixes, trusted), .order = order};
  }

  static Moves moves_of(const HullFit& fit, const std::vector<Known>& known) {
    Moves moves;
    moves.squares.resize(known.size());
    std::vector<double> judged;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i].rounds < kRoundsBeforeJudged) continue;
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
        row.reason =
            "rejected: a copy of another client's update; each group of copies counts once";
      } else if (!failed[i]) {
        row.reason = fmt::format(
            "accepted: {:.3g} typical distances from the simplex of the classes", multiple);
      }
    }
  }

  void add_remarks(const Beginning& start, const HullFit& fit, const Shape& shape, const Past* past,
                   Decision& decision) const {
    const std::size_t n = shape.clients;
    const std::size_t f = shape.tolerated(options_.f);
    const auto c = static_cast<std::size_t>(fit.corners.cols());
    decision.measures = {{"typical_distance", fit.typical},
                         {"passes", static_cast<double>(fit.passes)}};
    if (searches()) decision.measures.push_back({"corners", static_cast<double>(c)});
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
    if (start.found && options_.classes != 1 && c == 1) {
      decision.warnings.push_back(fmt::format(
          "the updates show no corners: their squared singular values fall by a factor of {:.3g} "
          "at most from one to the next, {:g} is needed; clients are judged by their distance from "
          "one centre",
          start.hull.gap, kLeastGap));
    } else if (start.found && options_.classes > 0 && c != most_corners(shape)) {
      decision.warnings.push_back(fmt::format(
          "{} corners do not stand out of the noise of the updates; {} do, and are used",
          options_.classes, c));
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
