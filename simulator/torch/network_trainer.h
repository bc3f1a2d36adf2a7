// NetworkTrainer: what a trainer knows from its network alone. Needs LibTorch.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "simulator/torch/network.h"
#include "simulator/train/trainer.h"

namespace boba::sim {

class NetworkTrainer : public Trainer {
 public:
  std::size_t length() const final { return length_; }
  std::vector<float> initial() const final {
    std::vector<float> parameters(length_);
    network_->initialise(seed_, parameters);
    return parameters;
  }
  TensorFile named(std::span<const float> parameters) const final {
    return name_parts(network_->layout(), parameters);
  }

 protected:
  NetworkTrainer(std::unique_ptr<Network> network, std::uint64_t seed)
      : network_(std::move(network)), length_(length_of(network_->layout())), seed_(seed) {}

  const Network& network() const { return *network_; }
  std::uint64_t seed() const { return seed_; }

 private:
  std::unique_ptr<Network> network_;
  std::size_t length_;
  std::uint64_t seed_;
};

}  // namespace boba::sim
