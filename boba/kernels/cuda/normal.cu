// Normal random numbers. They equal those of the other kernels up to the last bits of the
// logarithm.
#include "boba/core/random_math.h"
#include "boba/kernels/cuda/passes.h"
#include "boba/kernels/cuda/rows.cuh"

namespace boba::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void normal_kernel(StreamKey key, double sigma, T* out, std::size_t length,
                              Seen<T> seen) {
  Bits<T> written = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads * 2;
  for (std::size_t k = (static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x) * 2;
       k < length; k += step) {
    // One block of the generator makes two numbers.
    const RandomWords words =
        philox(key.seed, key.round, key.client, static_cast<std::uint32_t>(key.purpose), k / 2);
    for (std::size_t half = 0; half < 2 && k + half < length; ++half) {
      out[k + half] = static_cast<T>(sigma * quantile_of_normal(uniform_of(words, half)));
      written = max(written, abs_bits(out[k + half]));
    }
  }
  atomicMax(seen.bits, written);
  publish_bits(seen.bits, 1, seen.host, seen.ended);
}

template <class T>
OutputPass run(const Device& device, const StreamKey& key, double sigma, std::span<T> out) {
  if (out.empty()) return empty_pass<T>(0);
  const Device::Turn turn(device);
  const std::size_t blocks = (out.size() + 2 * kThreads - 1) / (2 * kThreads);
  const auto kernel = normal_kernel<T>;
  kernel<<<resident_blocks(turn, kernel, kThreads, 0, blocks), kThreads, 0, turn.stream()>>>(
      key, sigma, out.data(), out.size(), Seen<T>(turn));
  check(cudaGetLastError(), "draw numbers");
  return wait_for_output<T>(turn, {}, 0);
}

}  // namespace

OutputPass normal(const Device& device, const StreamKey& key, double sigma, MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(device, key, sigma, out.as<T>());
  });
}

}  // namespace boba::cuda
