// The kernels behind many_cuda.h, on bare memory: their compiler does not see LibTorch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace boba::sim {

// Images with the channels of a pixel together.
struct ImageBatch {
  std::int64_t images = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t bytes = 0;  // of a pixel, a multiple of 16
};

// Errors show in cudaGetLastError.
void copy_neighbourhoods(const ImageBatch& shape, const void* x, void* out, cudaStream_t stream);

enum class PoolType : std::uint8_t { kFloat, kBFloat16 };
void relu_pool(const ImageBatch& shape, PoolType type, const void* y, void* values,
               std::uint8_t* places, cudaStream_t stream);
void relu_pool_gradient(const ImageBatch& shape, PoolType type, const void* gradient,
                        const std::uint8_t* places, void* out, cudaStream_t stream);

}  // namespace boba::sim
