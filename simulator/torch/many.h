// ManyNetwork: a model of ours for many clients at once. Needs LibTorch.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/model_options.h"

namespace boba::sim {

// Immutable. A client's scores depend on its own parameters and inputs only.
class ManyNetwork {
 public:
  virtual ~ManyNetwork() = default;
  // How examples are kept on the device: in the order and type that forward wants.
  virtual torch::Tensor kept(const torch::Tensor& inputs) const = 0;
  // inputs: (clients, examples, ...) as kept; parameters: those of the layout, each with clients
  // first; scores: (clients, examples, classes), float32. shared: the clients' parameters are the
  // same, and only their gradients differ.
  virtual torch::Tensor forward(const std::vector<torch::Tensor>& parameters,
                                const torch::Tensor& inputs, bool shared) const = 0;
};

// Whether a model wants every product on a GPU in float32.
bool wants_float32(const ModelChoice& model);

// None where the model has to be run client by client: a script. On a GPU convolutions are in
// bfloat16 with float32 sums, unless the model wants float32.
std::unique_ptr<ManyNetwork> make_many(const ModelChoice& model, const Dataset& dataset,
                                       const torch::Device& device);

}  // namespace boba::sim
