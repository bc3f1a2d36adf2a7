#include "simulator/torch/many_cuda.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <limits>

#include "simulator/torch/conv_pool_kernels.h"
#include "simulator/torch/many_kernels.h"

namespace boba::sim {
namespace {

using torch::Tensor;

ImageBatch shape_of(const Tensor& x) {
  return {x.size(0), x.size(1), x.size(2), x.size(3) * static_cast<std::int64_t>(x.element_size())};
}

WindowList windows_of(const Tensor& x) {
  return {x.size(0) * (x.size(1) / 2) * (x.size(2) / 2), x.size(2) / 2};
}

PoolType type_of(const Tensor& x) {
  return x.scalar_type() == torch::kFloat ? PoolType::kFloat : PoolType::kBFloat16;
}

}  // namespace

bool many_cuda_serves(const Tensor& x) {
  const auto type = x.scalar_type();
  return x.is_cuda() && x.is_contiguous() && (type == torch::kFloat || type == torch::kBFloat16) &&
         shape_of(x).bytes % 16 == 0;
}

Tensor many_cuda_neighbourhoods(const Tensor& x) {
  const c10::cuda::CUDAGuard guard(x.device());
  Tensor out = torch::empty({x.size(0), x.size(1) - 2, x.size(2) - 2, 9 * x.size(3)}, x.options());
  copy_neighbourhoods(shape_of(x), x.data_ptr(), out.data_ptr(), c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

Pooled many_cuda_relu_pool(const Tensor& y) {
  const c10::cuda::CUDAGuard guard(y.device());
  const std::vector<std::int64_t> sizes = {y.size(0), y.size(1) / 2, y.size(2) / 2, y.size(3)};
  Pooled pooled{torch::empty(sizes, y.options()),
                torch::empty(sizes, y.options().dtype(torch::kByte))};
  relu_pool(shape_of(y), type_of(y), y.data_ptr(), pooled.values.data_ptr(),
            pooled.places.data_ptr<std::uint8_t>(), c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return pooled;
}

Tensor many_cuda_relu_pool_gradient(const Tensor& gradient, const Tensor& places,
                                    at::IntArrayRef sizes) {
  const c10::cuda::CUDAGuard guard(gradient.device());
  // A last row or column of odd sides is in no window.
  const bool even = sizes[1] % 2 == 0 && sizes[2] % 2 == 0;
  Tensor out =
      even ? torch::empty(sizes, gradient.options()) : torch::zeros(sizes, gradient.options());
  relu_pool_gradient(shape_of(out), type_of(out), gradient.data_ptr(),
                     places.data_ptr<std::uint8_t>(), out.data_ptr(),
                     c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

bool many_cuda_serves_conv_pool(const Tensor& x, const Tensor& weight) {
  return many_cuda_serves(x) && x.scalar_type() == torch::kBFloat16 && x.numel() > 0 &&
         x.size(1) % 2 == 0 && x.size(2) % 2 == 0 && x.size(3) == kConvPoolPlaces &&
         windows_of(x).windows <= std::numeric_limits<std::int32_t>::max() &&
         weight.size(1) == kConvPoolOutputs && 9 * weight.size(2) < kConvPoolPlaces;
}

Pooled many_cuda_conv_pool(const Tensor& x, const Tensor& rows, const Tensor& bias) {
  const c10::cuda::CUDAGuard guard(x.device());
  const std::vector<std::int64_t> sizes = {x.size(0), x.size(1) / 2, x.size(2) / 2,
                                           kConvPoolOutputs};
  Pooled pooled{torch::empty(sizes, x.options()),
                torch::empty(sizes, x.options().dtype(torch::kByte))};
  const Tensor weights = rows.contiguous();
  const Tensor shift = bias.contiguous();
  conv_pool(windows_of(x), x.data_ptr(), weights.data_ptr(), shift.data_ptr<float>(),
            pooled.values.data_ptr(), pooled.places.data_ptr<std::uint8_t>(),
            c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return pooled;
}

RowGradient many_cuda_conv_pool_gradient(const Tensor& x, const Tensor& gradient,
                                         const Tensor& places, std::int64_t clients) {
  const c10::cuda::CUDAGuard guard(x.device());
  const WindowList windows = windows_of(x);
  const std::int64_t slices = conv_pool_slices(windows, clients);
  const Tensor parts = torch::empty({clients, slices, kConvPoolOutputs, kConvPoolPlaces},
                                    x.options().dtype(torch::kFloat));
  conv_pool_gradient(windows, clients, slices, x.data_ptr(), gradient.data_ptr(),
                     places.data_ptr<std::uint8_t>(), parts.data_ptr<float>(),
                     c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  const Tensor rows = parts.sum(1);
  return {rows, rows.select(2, kConvPoolPlaces - 1)};
}

}  // namespace boba::sim
