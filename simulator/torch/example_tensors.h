// FederationTensors: the examples of a plan as tensors, ready for a network. Each example is stored
// once: the honest clients' one after another, so that a client's batch is a view.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/train/plan.h"

namespace boba::sim {

// Some examples.
struct ExampleTensors {
  torch::Tensor inputs;  // float images (N, channels, height, width), or words (N, length)
  torch::Tensor labels;  // int64
};

struct FederationTensors {
  ExampleTensors all_honest;  // the honest clients' one after another
  std::vector<ExampleTensors> honest;
  std::vector<ExampleTensors> flipped;  // one per Byzantine client where labels are flipped
  std::vector<ExampleTensors> server;   // as in the plan
  ExampleTensors server_whole;
  ExampleTensors test;
};

// channels_last: the channels of a pixel lie together.
FederationTensors make_tensors(const ResolvedExperiment& experiment, const Dataset& dataset,
                               const FederationPlan& plan, bool channels_last, int threads);

}  // namespace boba::sim
