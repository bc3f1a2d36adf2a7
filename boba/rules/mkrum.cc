#include "boba/rules/mkrum.h"

#include <fmt/format.h>

#include <optional>

#include "boba/rules/distance.h"
#include "boba/rules/krum_scores.h"
#include "boba/rules/select.h"

namespace boba {
namespace {

class MultiKrum final : public WeightRule {
 public:
  explicit MultiKrum(const MkrumOptions& options) : options_(options) {}

  std::optional<int> tolerance() const override { return options_.f; }
  Traits traits() const override { return {.shifts = true, .scales = true, .robust = true}; }

  Result<void> admits(const Shape& shape) const override {
    const auto neighbours = krum_neighbours("mkrum", shape, options_.f, options_.neighbours);
    if (!neighbours) return neighbours.error();
    if (Result<void> enough = needs_more_than_f("mkrum", shape, options_.f); !enough) return enough;
    if (averaged(shape) <= shape.clients) return {};
    return invalid_argument(
        fmt::format("mkrum needs m <= n; got m={}, n={}", options_.m, shape.clients));
  }

 protected:
  Result<Decision> weigh(const Gram& gram, const Shape& shape) const override {
    const auto neighbours = krum_neighbours("mkrum", shape, options_.f, options_.neighbours);
    const std::vector<double> scores = krum_scores(gram, *neighbours);
    Decision decision = mean_of_best(scores, averaged(shape), Best::kSmallest, "score");
    add_distances(gram, decision);
    decision.warnings = krum_warnings(shape, options_.f);
    if (const std::size_t honest = shape.clients - shape.tolerated(options_.f);
        averaged(shape) > honest) {
      decision.warnings.push_back(
          fmt::format("m={} averages more than the n - f = {} honest clients", options_.m, honest));
    }
    return decision;
  }

 private:
  std::size_t averaged(const Shape& shape) const {
    if (options_.m > 0) return static_cast<std::size_t>(options_.m);
    return shape.clients - shape.tolerated(options_.f);
  }

  MkrumOptions options_;
};

}  // namespace

Result<Aggregator> make_mkrum(const MkrumOptions& options) {
  return make_named<Aggregator, MultiKrum>(options);
}

}  // namespace boba
