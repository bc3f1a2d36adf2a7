// A LibTorch without CUDA.
#include "simulator/torch/replay.h"

namespace boba::sim {

std::unique_ptr<Replay> make_replay(const torch::Device& /*device*/) { return nullptr; }

}  // namespace boba::sim
