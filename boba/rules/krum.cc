#include "boba/rules/krum.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "boba/rules/distance.h"
#include "boba/rules/krum_scores.h"

namespace boba {
namespace {

// lowest: the best score, as text.
std::string reason(std::span<const double> scores, std::size_t i, std::size_t best,
                   const std::string& lowest) {
  if (i == best) return fmt::format("chosen: its score {} is the lowest", lowest);
  if (scores[i] == scores[best]) {
    return fmt::format("an earlier client has the same lowest score {}", lowest);
  }
  return fmt::format("its score {:.6g} is above the lowest, {}", scores[i], lowest);
}

class Krum final : public WeightRule {
 public:
  explicit Krum(const KrumOptions& options) : options_(options) {}

  std::optional<int> tolerance() const override { return options_.f; }
  Traits traits() const override { return {.shifts = true, .scales = true, .robust = true}; }

  Result<void> admits(const Shape& shape) const override {
    const auto neighbours = krum_neighbours("krum", shape, options_.f, options_.neighbours);
    if (!neighbours) return neighbours.error();
    return {};
  }

 protected:
  Result<Decision> weigh(const Gram& gram, const Shape& shape) const override {
    const auto neighbours = krum_neighbours("krum", shape, options_.f, options_.neighbours);
    const std::vector<double> scores = krum_scores(gram, *neighbours);
    // min_element takes the first of equals: ties to the lower index.
    const auto best =
        static_cast<std::size_t>(std::min_element(scores.begin(), scores.end()) - scores.begin());
    const std::string lowest = fmt::format("{:.6g}", scores[best]);
    Decision decision;
    decision.rows.resize(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      RowDecision& row = decision.rows[i];
      row.accepted = i == best;
      row.weight = i == best ? 1 : 0;
      row.reason = reason(scores, i, best, lowest);
      row.measures.reserve(2);
      row.measures.push_back({"score", scores[i]});
    }
    add_distances(gram, decision);
    decision.warnings = krum_warnings(shape, options_.f);
    return decision;
  }

 private:
  KrumOptions options_;
};

}  // namespace

Result<Aggregator> make_krum(const KrumOptions& options) {
  return make_named<Aggregator, Krum>(options);
}

}  // namespace boba
