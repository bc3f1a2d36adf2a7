// The experiments of the paper that are computed rather than run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/expand.h"
#include "reproduction/paper_file.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/store/store.h"
#include "simulator/train/runner.h"
#include "simulator/train/simulation.h"

namespace boba::reproduction {

using Points = std::vector<sim::MeasuredPoint>;

// Fig. 1: series "variance": x counts principal components of the honest updates of round 1, y is
// the variance along them.
Result<Points> measure_pca(const sim::ResolvedExperiment& experiment, const sim::Dataset& dataset,
                           const sim::Place& place);

// Fig. 3: series "ms": y is the time of one aggregation of round 1, several times.
Result<Points> measure_time(const sim::ResolvedExperiment& experiment, const sim::Dataset& dataset,
                            const sim::Place& place);

// Fig. 5: series "ratio": x is the round, y the trimmed loss of boba over that of boba-es.
// REQUIRES: the rule is boba.
Result<Points> measure_loss_ratio(const sim::ResolvedExperiment& experiment,
                                  const sim::Dataset& dataset, const sim::Place& place);

// Fig. 2: series "honest", "server", "centre", and for each rule "RULE none" and "RULE attack":
// points of the plane.
Result<Points> measure_picture(std::uint64_t seed, bool quick);
// The rules of the picture.
std::vector<std::string> picture_rules();

struct MeasureOptions {
  PaperOptions paper = {};
  std::string device = "cpu";
  int threads = 0;
  bool again = false;  // what is in the store already, too
};

struct MeasureOutcome {
  std::size_t done = 0;    // now
  std::size_t before = 0;  // were in the store
};

// Called before each measurement that is not in the store: its number of all, and what it is.
using MeasureObserver =
    std::function<void(std::size_t number, std::size_t all, const std::string&)>;

// Measures what the store does not have; each measurement is written when it is whole.
// REQUIRES: !is_runs(file.kind).
Result<MeasureOutcome> run_measurements(const PaperFile& file, const MeasureOptions& options,
                                        sim::DatasetCache& data, sim::Store& store,
                                        const MeasureObserver& observer);

}  // namespace boba::reproduction
