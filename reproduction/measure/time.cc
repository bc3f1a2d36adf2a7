#include <chrono>

#include "reproduction/measure/measure.h"
#include "reproduction/measure/probe.h"

namespace boba::reproduction {
namespace {

constexpr int kRepeat = 9;

}  // namespace

Result<Points> measure_time(const sim::ResolvedExperiment& experiment, const sim::Dataset& dataset,
                            const sim::Place& place) {
  auto probe = make_probe(experiment, dataset, place);
  if (!probe) return probe.error();
  if (Result<void> trained = (*probe)->train(1); !trained) return trained.error();
  const Round round = (*probe)->round();
  Points points;
  // The first call touches memory for the first time.
  for (int k = -1; k < kRepeat; ++k) {
    const auto start = std::chrono::steady_clock::now();
    const auto verdict =
        experiment.aggregator.aggregate((*probe)->kernels(), round, (*probe)->out());
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    if (!verdict) return verdict.error();
    if (k >= 0) points.push_back({"ms", static_cast<double>(k), spent.count()});
  }
  return points;
}

}  // namespace boba::reproduction
