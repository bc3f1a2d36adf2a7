// A GPU as the host sees it: errors, memory, the stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/views.h"

namespace boba::cuda {

// Throws DeviceError, naming the operation.
void check(cudaError_t status, const char* operation);

// Memory of the GPU, freed in the order of the stream.
class Buffer {
 public:
  Buffer(std::size_t bytes, cudaStream_t stream);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_;
};

// Rows of a pass, and one more for its output.
inline constexpr std::size_t kMostBits = std::size_t{1} << 16;

// Makes a GPU the current one of the calling thread, and restores the previous one at the end.
class DeviceGuard {
 public:
  explicit DeviceGuard(int index);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
};

// A GPU with its own stream. Passes take turns.
class Device {
 public:
  explicit Device(int index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Holds the device for one pass.
  class Turn {
   public:
    explicit Turn(const Device& device);
    cudaStream_t stream() const { return device_.stream_; }
    // Room for the bits of kMostBits rows, all 0 between passes; see publish_bits in rows.cuh.
    void* bits() const { return device_.bits_; }
    unsigned* ended() const { return device_.ended_; }
    // Memory of the host that kernels write to. It is complete after wait().
    void* results() const { return device_.staging_; }
    void wait() const;
    int multiprocessors() const { return device_.multiprocessors_; }
    // Throws where there is no room for so many rows with so many numbers each.
    void admit(std::size_t rows, std::size_t numbers = 1) const;
    void upload(void* to, const void* from, std::size_t bytes) const;
    // Waits for everything that was started.
    void download(void* to, const void* from, std::size_t bytes) const;

   private:
    const Device& device_;
    std::unique_lock<std::mutex> lock_;
    DeviceGuard guard_;
  };

  int index() const { return index_; }
  const char* name() const { return name_; }

 private:
  int index_;
  int multiprocessors_ = 0;
  char name_[256] = {};
  cudaStream_t stream_ = nullptr;
  void* staging_ = nullptr;  // pinned
  void* bits_ = nullptr;
  unsigned* ended_ = nullptr;
  mutable std::mutex mutex_;
};

}  // namespace boba::cuda
