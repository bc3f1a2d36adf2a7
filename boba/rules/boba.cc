#include "boba/rules/boba.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/rule.h"
#include "boba/rules/guarantee.h"
#include "boba/rules/label_mix.h"
#include "boba/rules/select.h"
#include "boba/rules/stage1.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::size_t kMostSubsets = 200000;
constexpr double kMostWork = 1e11;  // subsets times (n - f)^3: about a minute

// p_min=auto; boba.h says what they do.
constexpr double kAutoFactor = 2;
constexpr double kAutoTightest = -0.05;
constexpr double kAutoLoosest = -1;

enum class Search { kServer, kAlternate, kExhaustive };

// What the four variants differ in.
struct Plan {
  std::string_view name = {};
  int f = 0;
  Search search = Search::kAlternate;
  int max_iter = 0;                  // for kAlternate
  std::optional<double> p_min = {};  // none: no stage 2
  std::size_t parts = 1;             // server rows per class
  std::size_t slack = 1;             // at least n - slack f are accepted
};

class Boba final : public WeightRule {
 public:
  explicit Boba(const Plan& plan) : plan_(plan) {}

  Need need() const override { return Need::kServerGram; }
  std::optional<int> tolerance() const override { return plan_.f; }
  Traits traits() const override { return {.scales = true, .robust = plan_.p_min.has_value()}; }
  std::size_t server_parts() const override { return plan_.parts; }

  Result<void> admits(const Shape& shape) const override {
    const std::size_t n = shape.clients;
    const std::size_t f = shape.tolerated(plan_.f);
    if (shape.classes == 0) {
      return invalid_argument(fmt::format("{} needs server gradients, {} per class; got none",
                                          plan_.name,
                                          plan_.parts == 1 ? "one" : std::to_string(plan_.parts)));
    }
    if (shape.classes % plan_.parts != 0) {
      return invalid_argument(fmt::format(
          "{}(parts={}) needs {} server gradients per class, one after the other; got {}, not a "
          "multiple of {}",
          plan_.name, plan_.parts, plan_.parts, shape.classes, plan_.parts));
    }
    if (Result<void> good = needs_more_than_f(plan_.name, shape, plan_.f); !good) return good;
    if (plan_.search != Search::kExhaustive) return {};
    const std::size_t count = count_subsets(n, f, kMostSubsets + 1);
    const auto kept = static_cast<double>(n - f);
    if (count > kMostSubsets || static_cast<double>(count) * kept * kept * kept > kMostWork) {
      return invalid_argument(
          fmt::format("{} tries every subset of n - f clients, at most {} of them and {:g} for "
                      "their number times (n - f)^3; n={}, f={} is more: use boba",
                      plan_.name, kMostSubsets, kMostWork, n, f));
    }
    return {};
  }

 protected:
  Result<Decision> weigh(const Gram& gram, const Shape& shape) const override {
    if (plan_.parts == 1) return weigh_classes(gram, shape, gram);
    Shape joined = shape;
    joined.classes /= plan_.parts;
    Result<Decision> decision = weigh_classes(gram.joined(plan_.parts), joined, gram);
    if (!decision) return decision;
    // Stage 1 ends with a fit to clients, so that no server row has a weight.
    decision->server_weights.assign(gram.servers(), 0.0);
    decision->notes.push_back(fmt::format("the {} server gradients are {} classes of {} parts each",
                                          gram.servers(), joined.classes, plan_.parts));
    return decision;
  }

 private:
  // gram has one server row per class, original those that came.
  Result<Decision> weigh_classes(const Gram& gram, const Shape& shape, const Gram& original) const {
    const std::size_t n = gram.clients();
    const std::size_t f = shape.tolerated(plan_.f);
    if (gram.servers() > 1 && !servers_differ(gram)) {
      return invalid_argument(fmt::format(
          "{}: the {} server gradients are all equal, so they name no classes; compute each on "
          "the samples of one class",
          plan_.name, gram.servers()));
    }
    const std::vector<std::size_t> near = near_clients(gram, f);
    const Stage1 stage1 = search(gram, near, n - f);
    const LabelMixes mixes = label_mixes(stage1.projection, n);

    Decision decision;
    decision.rows.resize(n);
    std::vector<bool> in_fit(n);
    for (std::size_t i : stage1.set) in_fit[i] = true;
    for (std::size_t i = 0; i < n; ++i) {
      RowDecision& row = decision.rows[i];
      row.facts.push_back({&kInFit, bool(in_fit[i])});
      const auto shares = mixes.shares.col(static_cast<Index>(i));
      row.label_mix.assign(shares.data(), shares.data() + shares.size());
      row.measures.reserve(2);
      row.measures.push_back({"residual", std::sqrt(stage1.projection.sq_residual[i])});
      row.measures.push_back({"min_share", shares.minCoeff()});
    }
    std::optional<double> server_low;
    if (plan_.parts > 1) {
      server_low = low_share_of_parts(original, stage1.subspace, plan_.parts);
    }
    // Equal updates span nothing and are their own mean; others must be judged.
    const std::size_t rank = stage1.subspace.rank();
    if (plan_.p_min && rank > 0 && rank + 1 < gram.servers() && mixes.used == 0) {
      return invalid_argument(fmt::format(
          "{}: the fitted updates span {} of c - 1 = {} directions and the server gradients do not "
          "differ in them, so no client's label mix can be judged; send updates that differ, or "
          "use a rule without server data",
          plan_.name, rank, gram.servers() - 1));
    }
    judge(mixes, f, server_low, decision);
    assign_weights(gram, stage1, decision);
    const SubspaceReport subspace = subspace_report(stage1, mixes, n, f, gram.servers());
    decision.condition = subspace.condition;
    decision.reports.push_back(to_report(subspace));
    add_remarks(stage1, mixes, shape, decision);
    if (near.size() < n) {
      decision.notes.push_back(
          fmt::format("{} clients are too far from the others to shape the subspace; stage 2 "
                      "judges them as it does everyone",
                      n - near.size()));
    }
    return decision;
  }

  static bool servers_differ(const Gram& gram) {
    for (std::size_t z = gram.clients() + 1; z < gram.size(); ++z) {
      if (gram.sq_distance(gram.clients(), z) > 0) return true;
    }
    return false;
  }

  Stage1 search(const Gram& gram, std::span<const std::size_t> near, std::size_t keep) const {
    switch (plan_.search) {
      case Search::kServer:
        return server_stage1(gram, near, keep);
      case Search::kExhaustive:
        return exhaustive_stage1(gram, near, keep);
      case Search::kAlternate:
        break;
    }
    return alternating_stage1(gram, near, keep, plan_.max_iter);
  }

  // p_min, or with auto what the least shares give: of the server's parts, or of the clients.
  double threshold(std::vector<double> least, std::size_t keep,
                   std::optional<double> server_low) const {
    if (*plan_.p_min != kAutoPMin) return *plan_.p_min;
    if (server_low) return std::clamp(*server_low, kAutoLoosest, kAutoTightest);
    const auto place = least.begin() + static_cast<std::ptrdiff_t>(least.size() - keep);
    std::nth_element(least.begin(), place, least.end());
    return std::clamp(kAutoFactor * *place, kAutoLoosest, kAutoTightest);
  }

  // Stage 2: accepts clients whose least share is p_min or more, and at least n - slack f of them,
  // or one.
  void judge(const LabelMixes& mixes, std::size_t f, std::optional<double> server_low,
             Decision& decision) const {
    if (!plan_.p_min) {
      for (RowDecision& row : decision.rows) row.reason = "projected and averaged; no stage 2";
      return;
    }
    const std::size_t n = decision.rows.size();
    std::vector<double> least(n);
    std::vector<Index> worst(n);
    for (std::size_t i = 0; i < n; ++i) {
      least[i] = mixes.shares.col(static_cast<Index>(i)).minCoeff(&worst[i]);
    }
    const double p_min = threshold(least, n - f, server_low);
    if (*plan_.p_min == kAutoPMin) decision.measures.push_back({"p_min", p_min});
    if (server_low) decision.measures.push_back({"server_low_share", *server_low});
    const std::string bound = fmt::format("p_min={:g}", p_min);
    std::vector<double> badness(n);
    std::size_t passed = 0;
    for (std::size_t i = 0; i < n; ++i) {
      badness[i] = -least[i];
      RowDecision& row = decision.rows[i];
      row.accepted = least[i] >= p_min;
      passed += row.accepted ? 1 : 0;
      row.reason = fmt::format("share {:.3g} of class {} is {} {}", least[i], worst[i],
                               row.accepted ? "the least, not below" : "below", bound);
    }
    const std::size_t keep = n - std::min(n - 1, plan_.slack * f);
    if (passed >= keep) return;
    const std::string count = plan_.slack == 1 ? fmt::format("n - f = {}", keep)
                                               : fmt::format("n - {} f = {}", plan_.slack, keep);
    for (std::size_t i : smallest(badness, keep)) {
      RowDecision& row = decision.rows[i];
      if (!row.accepted) {
        row.reason += fmt::format("; accepted anyway, as one of the {} best", count);
      }
      row.accepted = true;
    }
    decision.warnings.push_back(fmt::format(
        "only {} of {} clients passed p_min={:g}; the {} with the largest least share were "
        "accepted",
        passed, n, p_min, count));
  }

  // m + W * mean of the accepted coordinates, over all rows of the Gram matrix.
  static void assign_weights(const Gram& gram, const Stage1& stage1, Decision& decision) {
    const std::size_t n = gram.clients();
    VectorXd mean = VectorXd::Zero(stage1.projection.x.rows());
    double accepted = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!decision.rows[i].accepted) continue;
      mean += stage1.projection.x.col(static_cast<Index>(i));
      ++accepted;
    }
    mean /= accepted;
    const VectorXd weights = stage1.subspace.m + stage1.subspace.w * mean;
    for (std::size_t i = 0; i < n; ++i) decision.rows[i].weight = weights(static_cast<Index>(i));
    decision.server_weights.assign(weights.data() + n, weights.data() + gram.size());
  }

  void add_remarks(const Stage1& stage1, const LabelMixes& mixes, const Shape& shape,
                   Decision& decision) const {
    for (std::string& warning : tolerance_warnings(shape, plan_.f)) {
      decision.warnings.push_back(std::move(warning));
    }
    const std::size_t n = shape.clients;
    const std::size_t f = shape.tolerated(plan_.f);
    const std::size_t c = shape.classes;
    if (n < 2 * f + c) {
      decision.warnings.push_back(
          fmt::format("the guarantee needs n - 2f >= c; got n={}, f={}, c={}", n, f, c));
    }
    if (!stage1.converged) {
      decision.warnings.push_back(fmt::format(
          "stage 1 stopped after max_iter={} fits; the set still changed", plan_.max_iter));
    }
    const std::size_t rank = stage1.subspace.rank();
    if (rank + 1 < c) {
      decision.warnings.push_back(
          fmt::format("the fitted rows span {} of c - 1 = {} directions; the others were dropped",
                      rank, c - 1));
    }
    if (plan_.p_min && c > 1 && mixes.used == 0) {
      decision.warnings.push_back(
          "the server gradients do not differ within the fitted subspace: stage 2 rejected no "
          "client");
    }
    const auto outside = std::count_if(
        decision.rows.begin(), decision.rows.end(),
        [](const auto& row) { return row.accepted && !*find_fact<bool>(row.facts, kInFit.name); });
    if (outside > 0) {
      decision.notes.push_back(fmt::format(
          "{} accepted clients did not shape the subspace: their projections count in the mean, "
          "but their own rows have weight 0",
          outside));
    }
  }

  Plan plan_;
};

template <class Options>
Result<Aggregator> make(const Options& options, Plan plan) {
  if (Result<void> good = check_options(options); !good) return good.error();
  plan.name = Options::info().name;
  plan.f = options.f;
  return Aggregator(std::make_shared<Boba>(plan), canonical(options));
}

}  // namespace

Result<Aggregator> make_boba(const BobaOptions& options) {
  return make(options, {.max_iter = options.max_iter,
                        .p_min = options.p_min,
                        .parts = static_cast<std::size_t>(options.parts),
                        .slack = static_cast<std::size_t>(options.slack)});
}

Result<Aggregator> make_boba_es(const BobaEsOptions& options) {
  return make(options, {.search = Search::kExhaustive, .p_min = options.p_min});
}

Result<Aggregator> make_boba_no_stage1(const BobaNoStage1Options& options) {
  return make(options, {.search = Search::kServer, .p_min = options.p_min});
}

Result<Aggregator> make_boba_no_stage2(const BobaNoStage2Options& options) {
  return make(options, {.max_iter = options.max_iter});
}

}  // namespace boba
