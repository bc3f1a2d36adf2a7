#include "boba/kernels/cuda/device.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "boba/kernels/cuda/cuda.h"

namespace boba::cuda {
namespace {

constexpr std::size_t kStaging = std::size_t{1} << 20;
static_assert(kStaging >= kMostBits * sizeof(std::uint64_t));

}  // namespace

void check(cudaError_t status, const char* operation) {
  if (status == cudaSuccess) return;
  // Otherwise the runtime would report the error to the next pass again.
  cudaGetLastError();
  throw DeviceError(fmt::format("the GPU failed to {}: {}", operation, cudaGetErrorString(status)));
}

Buffer::Buffer(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
  check(cudaMallocAsync(&data_, bytes == 0 ? 1 : bytes, stream), "give memory");
}

Buffer::~Buffer() { cudaFreeAsync(data_, stream_); }

Device::Device(int index) : index_(index) {
  const DeviceGuard guard(index);
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, index), "describe itself");
  multiprocessors_ = properties.multiProcessorCount;
  std::memcpy(name_, properties.name, sizeof name_ - 1);
  // A blocking stream: it waits for earlier work on the default stream, such as copies.
  check(cudaStreamCreate(&stream_), "make a stream");
  check(cudaMallocHost(&staging_, kStaging), "pin memory");
  constexpr std::size_t kBytes = kMostBits * sizeof(std::uint64_t);
  check(cudaMalloc(&bits_, kBytes + sizeof(unsigned)), "give memory");
  check(cudaMemset(bits_, 0, kBytes + sizeof(unsigned)), "clear memory");
  ended_ = reinterpret_cast<unsigned*>(static_cast<char*>(bits_) + kBytes);
  // Memory that was allocated once is kept for the next pass.
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, index), "find its memory");
  std::uint64_t all = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "keep memory");
}

Device::~Device() {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(index_);
  cudaFree(bits_);
  cudaFreeHost(staging_);
  cudaStreamDestroy(stream_);
  cudaSetDevice(before);
}

DeviceGuard::DeviceGuard(int index) {
  check(cudaGetDevice(&before_), "say which it is");
  if (before_ != index) check(cudaSetDevice(index), "start");
}

DeviceGuard::~DeviceGuard() { cudaSetDevice(before_); }

Device::Turn::Turn(const Device& device)
    : device_(device), lock_(device.mutex_), guard_(device.index_) {}

void Device::Turn::admit(std::size_t rows, std::size_t numbers) const {
  const std::size_t most = kMostBits / numbers - 1;
  if (rows <= most) return;
  throw DeviceError(fmt::format(
      "{} rows are too many for this pass on the GPU; at most {} are possible", rows, most));
}

void Device::Turn::wait() const { check(cudaStreamSynchronize(stream()), "finish a pass"); }

void Device::Turn::upload(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()), "take data");
}

void Device::Turn::download(void* to, const void* from, std::size_t bytes) const {
  const bool small = bytes <= kStaging;
  void* through = small ? device_.staging_ : to;
  if (bytes > 0) {
    check(cudaMemcpyAsync(through, from, bytes, cudaMemcpyDeviceToHost, stream()), "give data");
  }
  wait();
  if (small && bytes > 0) std::memcpy(to, through, bytes);
}

}  // namespace boba::cuda
