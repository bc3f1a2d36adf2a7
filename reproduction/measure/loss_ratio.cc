#include <fmt/format.h>

#include "boba/rules/registry.h"
#include "boba/rules/subspace_report.h"
#include "reproduction/measure/measure.h"
#include "reproduction/measure/probe.h"

namespace boba::reproduction {
namespace {

Result<double> trimmed_loss(const Verdict& verdict) {
  const auto subspace = subspace_of(verdict);
  if (subspace && !subspace->trimmed_loss.empty()) return subspace->trimmed_loss.back();
  return invalid_argument(fmt::format("loss-ratio: {} fits no subspace", verdict.rule));
}

// "boba(f=2)" -> "boba-es(f=2)".
Result<std::string> exhaustive(const std::string& rule) {
  if (!rule.starts_with("boba(")) {
    return invalid_argument(fmt::format("loss-ratio needs the rule boba(f=...); got {}", rule));
  }
  return fmt::format("boba-es{}", rule.substr(4));
}

}  // namespace

Result<Points> measure_loss_ratio(const sim::ResolvedExperiment& experiment,
                                  const sim::Dataset& dataset, const sim::Place& place) {
  const auto searched = exhaustive(experiment.rule);
  if (!searched) return searched.error();
  const auto best_rule = make_aggregator(*searched);
  if (!best_rule) return best_rule.error();
  auto probe = make_probe(experiment, dataset, place);
  if (!probe) return probe.error();
  Points points;
  for (int number = 1; number <= experiment.training.rounds; ++number) {
    if (Result<void> trained = (*probe)->train(number); !trained) return trained.error();
    const Round round = (*probe)->round();
    const auto best = best_rule->aggregate((*probe)->kernels(), round, (*probe)->out());
    if (!best) return best.error();
    const auto verdict =
        experiment.aggregator.aggregate((*probe)->kernels(), round, (*probe)->out());
    if (!verdict) return verdict.error();
    const auto loss = trimmed_loss(*verdict);
    const auto least = trimmed_loss(*best);
    if (!loss) return loss.error();
    if (!least) return least.error();
    points.push_back({"ratio", static_cast<double>(number), *least > 0 ? *loss / *least : 1.0});
    (*probe)->step();
  }
  return points;
}

}  // namespace boba::reproduction
