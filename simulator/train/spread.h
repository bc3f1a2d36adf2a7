// One run on several ranks: each trains a share of the round's clients, and all the rest is done by
// every rank alike. A client's update is computed by itself, so the numbers are those of one
// process.
//
// Rank 0 leads: it has the database and decides what happens next. The others follow.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "boba/core/result.h"
#include "boba/dist/communicator.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/train/simulation.h"
#include "simulator/train/trainer.h"

namespace boba::sim {

// Trains this rank's share of the tasks with the trainer, and gives all updates to all ranks.
std::unique_ptr<Trainer> spread_trainer(std::unique_ptr<Trainer> trainer,
                                        const Communicator& ranks);

// On rank 0, as make_simulation. ranks must outlive the result. REQUIRES: place.device is "cpu",
// and the others follow.
Result<std::unique_ptr<Simulation>> make_leading_simulation(
    const ResolvedExperiment& experiment, const Dataset& dataset, const Place& place,
    std::string_view name, const Communicator& ranks,
    std::shared_ptr<const FederationPlan> plan = nullptr);

// On the other ranks: works along until rank 0 releases it. A step that fails on any rank fails on
// rank 0, with the name of the rank. dataset is asked for when it is needed.
void follow(const ResolvedExperiment& experiment,
            const std::function<Result<std::shared_ptr<const Dataset>>()>& dataset,
            const Place& place, const Communicator& ranks);

// The same with a function that makes the simulation for a place.
using MakeSimulation = std::function<Result<std::unique_ptr<Simulation>>(const Place&)>;
void follow(const MakeSimulation& make, const Place& place, const Communicator& ranks);

// On rank 0, when no simulation comes any more.
void release_followers(const Communicator& ranks);

}  // namespace boba::sim
