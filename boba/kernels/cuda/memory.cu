// Rows in the GPU's memory for a caller's own use: making, filling, copying.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>

#include "boba/kernels/cuda/passes.h"
#include "boba/kernels/cuda/rows.cuh"

namespace boba::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kAlignment = 256;

template <class T>
__global__ void fill_kernel(T* out, std::size_t length, T value) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
  for (std::size_t k = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x; k < length;
       k += step) {
    out[k] = value;
  }
}

}  // namespace

UpdateMatrix make_rows(const Device& device, DType dtype, std::size_t rows, std::size_t length) {
  const Device::Turn turn(device);
  const std::size_t width = dtype == DType::kFloat32 ? sizeof(float) : sizeof(double);
  const std::size_t stride = (length * width + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t bytes = std::max<std::size_t>(1, rows * stride);
  void* data = nullptr;
  check(cudaMalloc(&data, bytes), "give memory for the rows");
  std::shared_ptr<void> memory(data, [](void* given) { cudaFree(given); });
  check(cudaMemsetAsync(data, 0, bytes, turn.stream()), "clear memory");
  return {dtype, rows, length, std::move(memory), stride};
}

void fill(const Device& device, MutableRow out, double value) {
  if (out.length() == 0) return;
  const Device::Turn turn(device);
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::size_t blocks = (out.length() + kThreads - 1) / kThreads;
    const auto kernel = fill_kernel<T>;
    kernel<<<resident_blocks(turn, kernel, kThreads, 0, blocks), kThreads, 0, turn.stream()>>>(
        out.as<T>().data(), out.length(), static_cast<T>(value));
    check(cudaGetLastError(), "fill a row");
  });
}

void copy(const Device& device, const UpdateView& rows, std::size_t i, MutableRow out, End end) {
  if (out.length() == 0) return;
  const Device::Turn turn(device);
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    check(cudaMemcpyAsync(out.as<T>().data(), rows.row<T>(i), out.length() * sizeof(T),
                          cudaMemcpyDefault, turn.stream()),
          "copy a row");
  });
  if (end == End::kWait) turn.wait();
}

}  // namespace boba::cuda
