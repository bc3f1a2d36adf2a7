// A convolution of laid out inputs, ReLU and 2x2 maximum as one pass over the inputs, and its
// gradient as another: what is between them is never in memory. bfloat16, 32 outputs, 32 places.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace boba::sim {

constexpr int kConvPoolOutputs = 32;
constexpr int kConvPoolPlaces = 32;

// The 2x2 windows of images whose sides are even: row by row, images one after another.
struct WindowList {
  std::int64_t windows = 0;  // fewer than 2^31
  std::int64_t columns = 0;  // windows beside each other: half an image's width
};

// x: (images, height, width, places); weights: (outputs, places), both bfloat16; bias: (outputs).
// values: (windows, outputs), bfloat16; places: which of the four it was, 4 where none is above
// zero. Errors show in cudaGetLastError.
void conv_pool(const WindowList& shape, const void* x, const void* weights, const float* bias,
               void* values, std::uint8_t* places, cudaStream_t stream);

// How many parts the sum over a client's windows has; depends on the shape alone.
std::int64_t conv_pool_slices(const WindowList& shape, std::int64_t clients);

// Gradients of the clients' weights, given that of the values: parts is (clients, slices, outputs,
// places), to be added over slices. Instead of the last place's, which must be one that no weight
// belongs to, it has the gradient of the bias.
void conv_pool_gradient(const WindowList& shape, std::int64_t clients, std::int64_t slices,
                        const void* x, const void* gradient, const std::uint8_t* places,
                        float* parts, cudaStream_t stream);

}  // namespace boba::sim
