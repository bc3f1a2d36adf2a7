#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>

#include "simulator/torch/replay.h"

namespace boba::sim {
namespace {

// Libraries choose and allocate in their first calls: those are not recorded.
constexpr int kWarmUps = 2;

class GraphReplay final : public Replay {
 public:
  explicit GraphReplay(const torch::Device& device)
      : stream_(c10::cuda::getStreamFromPool(false, device.index())) {}

  // A recording has memory of its own, which nobody else would use again.
  ~GraphReplay() override {
    if (calls_ <= kWarmUps) return;
    try {
      graph_.reset();
      c10::cuda::CUDACachingAllocator::emptyCache();
    } catch (const std::exception&) {
      cudaGetLastError();
    }
  }

  void run(const std::function<void()>& body) override {
    // A recording cannot take what the calls before it left: half the memory would lie idle.
    if (calls_ == kWarmUps) c10::cuda::CUDACachingAllocator::emptyCache();
    if (calls_ <= kWarmUps) aside(body, calls_ == kWarmUps);
    if (calls_++ >= kWarmUps) graph_.replay();
  }

 private:
  // On a stream of its own, after what the current one was told, and before what it is told next.
  void aside(const std::function<void()>& body, bool record) {
    const c10::cuda::CUDAStream current = c10::cuda::getCurrentCUDAStream(stream_.device_index());
    at::cuda::CUDAEvent before;
    before.record(current);
    before.block(stream_);
    {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      if (record) {
        capture(body);
      } else {
        body();
      }
    }
    at::cuda::CUDAEvent after;
    after.record(stream_);
    after.block(current);
  }

  void capture(const std::function<void()>& body) {
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    try {
      body();
    } catch (...) {
      // A recording left open would forbid all that comes after it.
      try {
        graph_.capture_end();
      } catch (const std::exception&) {
        cudaGetLastError();
      }
      throw;
    }
    graph_.capture_end();
  }

  c10::cuda::CUDAStream stream_;
  at::cuda::CUDAGraph graph_;
  int calls_ = 0;
};

}  // namespace

std::unique_ptr<Replay> make_replay(const torch::Device& device) {
  if (!device.is_cuda()) return nullptr;
  return std::make_unique<GraphReplay>(device);
}

}  // namespace boba::sim
