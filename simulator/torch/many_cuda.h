// Kernels of the convolutional network that LibTorch has only slow ones for, on a GPU.
#pragma once

#include <torch/torch.h>

namespace boba::sim {

// Whether they are in this build and serve such a tensor: in a GPU's memory, channels together and
// a whole number of sixteen bytes.
bool many_cuda_serves(const torch::Tensor& x);

// The neighbourhoods of x (N, height, width, channels): (N, height - 2, width - 2, 9 * channels).
torch::Tensor many_cuda_neighbourhoods(const torch::Tensor& x);

// max(0, largest of 2x2) of y (N, height, width, channels), a rest of one row or column left out,
// and which of the four it was: 0 to 3, 4 where none is above zero.
struct Pooled {
  torch::Tensor values;
  torch::Tensor places;  // uint8
};
Pooled many_cuda_relu_pool(const torch::Tensor& y);
// Of y, given the gradient of the values. sizes: y's.
torch::Tensor many_cuda_relu_pool_gradient(const torch::Tensor& gradient,
                                           const torch::Tensor& places, at::IntArrayRef sizes);

// Whether convolution and maximum are one kernel for such a layout x (N, height, width, 32 places)
// and such weights (clients, 32 outputs, channels, 3, 3): bfloat16, even sides, a place to spare.
bool many_cuda_serves_conv_pool(const torch::Tensor& x, const torch::Tensor& weight);
// The same as many_cuda_relu_pool of rows x + bias at every place. rows: (outputs, places), in x's
// type; bias: (outputs), float32.
Pooled many_cuda_conv_pool(const torch::Tensor& x, const torch::Tensor& rows,
                           const torch::Tensor& bias);
// Of rows and bias for each client, float32, given the gradient of the values.
struct RowGradient {
  torch::Tensor rows;  // (clients, outputs, places); the last place means nothing
  torch::Tensor bias;  // (clients, outputs)
};
RowGradient many_cuda_conv_pool_gradient(const torch::Tensor& x, const torch::Tensor& gradient,
                                         const torch::Tensor& places, std::int64_t clients);

}  // namespace boba::sim
