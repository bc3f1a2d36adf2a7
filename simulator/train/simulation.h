// Simulation: one federation, round by round.
//
// A round: the cohort trains, the attackers forge, the rule aggregates, the server steps. All
// randomness comes from the seed and the round's number, so the state between two rounds is the
// model, the server's momentum and the number of rounds done.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/store/records.h"
#include "simulator/store/safetensors.h"
#include "simulator/store/store.h"
#include "simulator/train/place.h"
#include "simulator/train/plan.h"

namespace boba::sim {

class Simulation {
 public:
  virtual ~Simulation() = default;

  // What the database is told of the run before it starts.
  virtual const RunHeader& header() const = 0;
  virtual std::span<const ClientRecord> clients() const = 0;

  virtual int rounds_done() const = 0;
  bool done() const { return rounds_done() >= header().rounds; }

  // The next round: what happened in it, and, where asked for, the checkpoint after it. A round in
  // which too few updates are usable leaves the model as it is and says so in its note. After an
  // error only restore() is of use. REQUIRES: !done().
  virtual Result<RoundEntry> step(bool checkpoint = true) = 0;

  // Continues after the round of a checkpoint of the same experiment.
  virtual Result<void> restore(std::string_view checkpoint) = 0;

  virtual std::vector<float> parameters() const = 0;
  virtual TensorFile model() const = 0;
};

// name: of the experiment file. The data set must outlive the simulation. plan: the experiment's;
// if there is none, it is made here.
Result<std::unique_ptr<Simulation>> make_simulation(
    const ResolvedExperiment& experiment, const Dataset& dataset, const Place& place,
    std::string_view name, std::shared_ptr<const FederationPlan> plan = nullptr);

// What the database is told of a run, without preparing it. gpu: the device's name; "" for the
// processor.
Result<RunHeader> header_of(const ResolvedExperiment& experiment, const Dataset& dataset,
                            std::string_view name, std::string_view gpu = "");

}  // namespace boba::sim
