// A 3x3 convolution, valid padding, whose weights are each client's own: the gradient of the
// weights comes per client, without a loop over clients.
#pragma once

#include <torch/torch.h>

namespace boba {

// x: (clients * examples, height, width, channels), contiguous; weight: (clients, outputs,
// channels, 3, 3) and bias (clients, outputs) in float32. Gives (clients * examples, height - 2,
// width - 2, outputs) in x's type; gradients of weight and bias are float32 sums. shared: all
// clients have the same weights, and only their gradients differ.
torch::Tensor many_conv3x3(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, bool shared);

}  // namespace boba
