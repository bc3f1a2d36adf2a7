// The forward and backward passes of a round and nothing else: LibTorch's own layers, one thread
// per client, no federation around them. What the simulator is compared with.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace boba::bench {

struct LoopShape {
  std::string model;  // "mlp", "cnn" or "gru", as the paper has them
  std::size_t clients = 100;
  std::size_t examples = 600;  // of each client
};

class BareLoop {
 public:
  virtual ~BareLoop() = default;
  // One gradient for every client; seconds.
  virtual double round() = 0;
};

std::unique_ptr<BareLoop> make_bare_loop(const LoopShape& shape, int threads);

}  // namespace boba::bench
