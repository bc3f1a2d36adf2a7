// Place: where a federation is computed, and what computes there.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/dist/communicator.h"
#include "boba/kernels/cpu/cpu.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/train/plan.h"
#include "simulator/train/trainer.h"

namespace boba::sim {

// The numbers do not depend on how many threads there are; those of a GPU differ from the
// processor's by rounding.
struct Place {
  std::string device = "cpu";  // or "cuda", "cuda:1", ...
  int threads = 1;             // at least 1
  // Processes that share the training, each in step with the others; see spread.h.
  const Communicator* ranks = nullptr;
  SimdLevel simd = SimdLevel::kAuto;  // of the processor's kernels; ranks must have the same

  bool gpu() const { return device != "cpu"; }
};

// What "cuda" or "cuda:N" is called where this build and machine have it; "" for "cpu".
Result<std::string> device_name(std::string_view device);

// The passes over rows that the place's trainer writes.
Result<std::unique_ptr<const Kernels>> make_kernels(const Place& place);

// REQUIRES: the plan is the experiment's.
Result<std::unique_ptr<Trainer>> make_trainer(const ResolvedExperiment& experiment,
                                              const Dataset& dataset, const FederationPlan& plan,
                                              const Place& place);

}  // namespace boba::sim
