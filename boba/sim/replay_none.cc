// A LibTorch without CUDA.
#include "boba/sim/replay.h"

namespace boba {

std::unique_ptr<Replay> make_replay(const torch::Device& /*device*/) { return nullptr; }

}  // namespace boba
