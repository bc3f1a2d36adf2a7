// Probe: the parts of a federation, for looking at the updates of a round from outside. A
// Simulation keeps them to itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "boba/core/aggregator.h"
#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/views.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/train/place.h"

namespace boba::reproduction {

// Everybody takes part in every round.
class Probe {
 public:
  virtual ~Probe() = default;

  virtual const Kernels& kernels() const = 0;
  // Trains all clients and the server from the present model, and lets the attackers forge.
  virtual Result<void> train(int round) = 0;
  // What a rule sees of the round that was trained last; valid until the next one.
  virtual Round round() = 0;
  // The honest ones among its updates.
  virtual UpdateView honest() const = 0;
  // A row in the memory that the kernels work in.
  virtual MutableRow out() = 0;
  // The server's step along out().
  virtual void step() = 0;
};

// The data set must outlive it.
Result<std::unique_ptr<Probe>> make_probe(const sim::ResolvedExperiment& experiment,
                                          const sim::Dataset& dataset, const sim::Place& place);

// What computes there, for people: "cpu, 2 threads, avx512".
Result<std::string> machine_of(const sim::Place& place);

}  // namespace boba::reproduction
