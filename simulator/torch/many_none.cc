// A build without CUDA, or a LibTorch without it: no tensor is served.
#include "simulator/torch/many_cuda.h"

namespace boba::sim {

bool many_cuda_serves(const torch::Tensor& /*x*/) { return false; }
torch::Tensor many_cuda_neighbourhoods(const torch::Tensor& x) { return x; }
Pooled many_cuda_relu_pool(const torch::Tensor& y) { return {y, y}; }
torch::Tensor many_cuda_relu_pool_gradient(const torch::Tensor& gradient,
                                           const torch::Tensor& /*places*/,
                                           at::IntArrayRef /*sizes*/) {
  return gradient;
}
bool many_cuda_serves_conv_pool(const torch::Tensor& /*x*/, const torch::Tensor& /*weight*/) {
  return false;
}
Pooled many_cuda_conv_pool(const torch::Tensor& x, const torch::Tensor& /*rows*/,
                           const torch::Tensor& /*bias*/) {
  return {x, x};
}
RowGradient many_cuda_conv_pool_gradient(const torch::Tensor& x, const torch::Tensor& /*gradient*/,
                                         const torch::Tensor& /*places*/,
                                         std::int64_t /*clients*/) {
  return {x, x};
}

}  // namespace boba::sim
