// 3x3 convolutions, valid padding, whose weights are each client's own: the gradient of the weights
// comes per client, without a loop over clients. And what stands between them.
#pragma once

#include <torch/torch.h>

namespace boba::sim {

// x: (clients * examples, height, width, channels), contiguous; weight: (clients, outputs,
// channels, 3, 3) and bias (clients, outputs) in float32. Gives (clients * examples, height - 2,
// width - 2, outputs) in x's type; gradients of weight and bias are float32 sums. shared: all
// clients have the same weights, and only their gradients differ.
torch::Tensor many_conv3x3(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, bool shared);

// The same of inputs that never change, laid out once: lay_out gives (examples, height - 2, width -
// 2, places), places being 9 * channels rounded up to the sixteen bytes that a GPU likes.
torch::Tensor lay_out(const torch::Tensor& x);
torch::Tensor many_laid_out_conv3x3(const torch::Tensor& x, const torch::Tensor& weight,
                                    const torch::Tensor& bias, bool shared);

// max(0, largest of 2x2) of (N, height, width, channels).
torch::Tensor many_relu_pool(const torch::Tensor& x);

// many_relu_pool of many_laid_out_conv3x3; one kernel where many_cuda_serves_conv_pool and weights
// are shared.
torch::Tensor many_laid_out_conv_pool(const torch::Tensor& x, const torch::Tensor& weight,
                                      const torch::Tensor& bias, bool shared);

}  // namespace boba::sim
