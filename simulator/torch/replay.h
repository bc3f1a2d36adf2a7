// Replay: work on a GPU that is the same in every round, recorded once and then started with one
// call instead of hundreds. Needs LibTorch.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>

namespace boba::sim {

class Replay {
 public:
  virtual ~Replay() = default;
  // Does the work of body; calls it until the recording is made. REQUIRES: body always starts the
  // same work on the same memory, and waits for none of it.
  virtual void run(const std::function<void()>& body) = 0;
};

// None where the device has no such thing.
std::unique_ptr<Replay> make_replay(const torch::Device& device);

}  // namespace boba::sim
