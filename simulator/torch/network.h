// Network: a model as a function of its inputs and of one flat vector of parameters. Needs
// LibTorch; only the sources of this folder that train include it.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/store/safetensors.h"

namespace boba::sim {

// A named part of the flat vector.
struct ParameterPart {
  std::string name;
  std::vector<std::int64_t> shape;
  double bound = 0;  // initial numbers are uniform on [-bound, bound]
};

std::size_t length_of(const std::vector<ParameterPart>& layout);

// The parts of a flat vector by name.
TensorFile name_parts(const std::vector<ParameterPart>& layout, std::span<const float> parameters);

// A copy of the network for one thread; its parameters are views of the flat vector it was made
// for.
class Replica {
 public:
  virtual ~Replica() = default;
  // A batch of inputs to a batch of scores, one per class.
  virtual torch::Tensor forward(const torch::Tensor& inputs) = 0;
  const std::vector<torch::Tensor>& parameters() const { return parameters_; }

 protected:
  explicit Replica(std::vector<torch::Tensor> parameters) : parameters_(std::move(parameters)) {}
  std::vector<torch::Tensor> parameters_;
};

// Immutable and thread-safe.
class Network {
 public:
  virtual ~Network() = default;
  virtual const std::vector<ParameterPart>& layout() const = 0;
  // The parameters that training starts with.
  virtual void initialise(std::uint64_t seed, std::span<float> parameters) const;
  // flat: one float32 tensor of the layout's length, which must outlive the replica.
  virtual std::unique_ptr<Replica> replica(const torch::Tensor& flat) const = 0;
  // How images lie in memory: false: channel by channel, true: the channels of a pixel together.
  virtual bool channels_last() const { return false; }
};

// The experiment's model.
Result<std::unique_ptr<Network>> make_network(const ResolvedExperiment& experiment,
                                              const Dataset& dataset);

// Of a TorchScript file. Dropout is off and running statistics stay as exported, so that a run
// depends on its seed only. Images come as float (N, channels, height, width), texts as word
// vectors (N, length, vector length).
Result<std::unique_ptr<Network>> load_script(const std::string& file, const Dataset& dataset);

// Views of flat, one per part of the layout, each a leaf that wants a gradient.
std::vector<torch::Tensor> leaf_views(const torch::Tensor& flat,
                                      const std::vector<ParameterPart>& layout);

// The data set's word vectors, (words, vector length).
torch::Tensor word_vectors(const Dataset& dataset);

}  // namespace boba::sim
