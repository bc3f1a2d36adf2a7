// Memory is all that counts here: every thread moves sixteen bytes, neighbours move neighbours.
#include <cuda_bf16.h>

#include "simulator/torch/many_kernels.h"

namespace boba::sim {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t items) {
  return static_cast<unsigned>((items + kThreads - 1) / kThreads);
}

// One line of three pixels of a neighbourhood is one run of memory, in x and in out.
__global__ void neighbourhoods_kernel(ImageBatch shape, std::int64_t items, const uint4* x,
                                      uint4* out) {
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= items) return;
  const std::int64_t pixel = shape.bytes / 16;
  const std::int64_t run = 3 * pixel;
  const std::int64_t inside = item % run;
  std::int64_t rest = item / run;
  const std::int64_t line = rest % 3;
  rest /= 3;
  const std::int64_t column = rest % (shape.width - 2);
  rest /= shape.width - 2;
  const std::int64_t row = rest % (shape.height - 2);
  const std::int64_t image = rest / (shape.height - 2);
  out[item] = x[((image * shape.height + row + line) * shape.width + column) * pixel + inside];
}

template <class T>
struct Pack;
template <>
struct Pack<float> {
  static constexpr int kCount = 4;
  static __device__ float get(const uint4& pack, int k) {
    return reinterpret_cast<const float*>(&pack)[k];
  }
  static __device__ void set(uint4& pack, int k, float value) {
    reinterpret_cast<float*>(&pack)[k] = value;
  }
};
template <>
struct Pack<__nv_bfloat16> {
  static constexpr int kCount = 8;
  static __device__ float get(const uint4& pack, int k) {
    return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(&pack)[k]);
  }
  static __device__ void set(uint4& pack, int k, float value) {
    reinterpret_cast<__nv_bfloat16*>(&pack)[k] = __float2bfloat16(value);
  }
};

// Where item of the pooled images is: its four places in y.
struct Window {
  std::int64_t corner;  // in packs
  std::int64_t right;
  std::int64_t down;
};

__device__ Window window_of(const ImageBatch& shape, std::int64_t item) {
  const std::int64_t pixel = shape.bytes / 16;
  const std::int64_t inside = item % pixel;
  std::int64_t rest = item / pixel;
  const std::int64_t column = rest % (shape.width / 2);
  rest /= shape.width / 2;
  const std::int64_t row = rest % (shape.height / 2);
  const std::int64_t image = rest / (shape.height / 2);
  return {((image * shape.height + 2 * row) * shape.width + 2 * column) * pixel + inside, pixel,
          shape.width * pixel};
}

template <class T>
__global__ void relu_pool_kernel(ImageBatch shape, std::int64_t items, const uint4* y,
                                 uint4* values, std::uint8_t* places) {
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= items) return;
  const Window window = window_of(shape, item);
  const uint4 four[4] = {y[window.corner], y[window.corner + window.right],
                         y[window.corner + window.down],
                         y[window.corner + window.down + window.right]};
  uint4 value;
  constexpr int kCount = Pack<T>::kCount;
  std::uint8_t which[kCount];
  for (int k = 0; k < kCount; ++k) {
    float best = 0;
    which[k] = 4;
    for (int place = 0; place < 4; ++place) {
      const float here = Pack<T>::get(four[place], k);
      // A number that is none stays one.
      if (here > best || here != here) {
        best = here;
        which[k] = static_cast<std::uint8_t>(place);
      }
    }
    Pack<T>::set(value, k, best);
  }
  values[item] = value;
  for (int k = 0; k < kCount; ++k) places[item * kCount + k] = which[k];
}

template <class T>
__global__ void relu_pool_gradient_kernel(ImageBatch shape, std::int64_t items,
                                          const uint4* gradient, const std::uint8_t* places,
                                          uint4* out) {
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= items) return;
  const Window window = window_of(shape, item);
  constexpr int kCount = Pack<T>::kCount;
  const uint4 from = gradient[item];
  uint4 four[4] = {};
  for (int k = 0; k < kCount; ++k) {
    const std::uint8_t place = places[item * kCount + k];
    for (int other = 0; other < 4; ++other) {
      if (other == place) Pack<T>::set(four[other], k, Pack<T>::get(from, k));
    }
  }
  out[window.corner] = four[0];
  out[window.corner + window.right] = four[1];
  out[window.corner + window.down] = four[2];
  out[window.corner + window.down + window.right] = four[3];
}

}  // namespace

void copy_neighbourhoods(const ImageBatch& shape, const void* x, void* out, cudaStream_t stream) {
  const std::int64_t items =
      shape.images * (shape.height - 2) * (shape.width - 2) * 9 * (shape.bytes / 16);
  if (items == 0) return;
  neighbourhoods_kernel<<<blocks_for(items), kThreads, 0, stream>>>(
      shape, items, static_cast<const uint4*>(x), static_cast<uint4*>(out));
}

void relu_pool(const ImageBatch& shape, PoolType type, const void* y, void* values,
               std::uint8_t* places, cudaStream_t stream) {
  const std::int64_t items =
      shape.images * (shape.height / 2) * (shape.width / 2) * (shape.bytes / 16);
  if (items == 0) return;
  const auto kernel =
      type == PoolType::kFloat ? relu_pool_kernel<float> : relu_pool_kernel<__nv_bfloat16>;
  kernel<<<blocks_for(items), kThreads, 0, stream>>>(shape, items, static_cast<const uint4*>(y),
                                                     static_cast<uint4*>(values), places);
}

void relu_pool_gradient(const ImageBatch& shape, PoolType type, const void* gradient,
                        const std::uint8_t* places, void* out, cudaStream_t stream) {
  const std::int64_t items =
      shape.images * (shape.height / 2) * (shape.width / 2) * (shape.bytes / 16);
  if (items == 0) return;
  const auto kernel = type == PoolType::kFloat ? relu_pool_gradient_kernel<float>
                                               : relu_pool_gradient_kernel<__nv_bfloat16>;
  kernel<<<blocks_for(items), kThreads, 0, stream>>>(
      shape, items, static_cast<const uint4*>(gradient), places, static_cast<uint4*>(out));
}

}  // namespace boba::sim
