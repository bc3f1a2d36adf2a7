#include "boba/kernels/cuda/cuda.h"

#include <fmt/format.h>

#include <mutex>

#include "boba/kernels/cuda/passes.h"

namespace boba {
namespace {

class CudaKernels final : public Kernels {
 public:
  explicit CudaKernels(int device) : device_(device) {}

  std::string name() const override { return fmt::format("cuda, {}", device_.name()); }

  GramPass gram(const UpdateView& rows, std::span<const double> origin,
                Precision precision) const override {
    return cuda::gram(device_, rows, origin, precision);
  }
  DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                std::span<const double> weights) const override {
    return cuda::dots(device_, rows, reference, weights);
  }
  std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan,
                              std::span<double> out) const override {
    return cuda::sketch(device_, rows, plan, out);
  }
  OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                     MutableRow out) const override {
    return cuda::combine(device_, rows, weights, keep, out);
  }
  OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
                        MutableRow out) const override {
    return cuda::order_mean(device_, rows, mix, first, last, out);
  }
  OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                     MutableRow out) const override {
    return cuda::moments(device_, rows, mean_factor, deviation_factor, out);
  }
  OutputPass normal(const StreamKey& key, double sigma, MutableRow out) const override {
    return cuda::normal(device_, key, sigma, out);
  }
  UpdateMatrix make_rows(DType dtype, std::size_t rows, std::size_t length) const override {
    return cuda::make_rows(device_, dtype, rows, length);
  }
  void fill(MutableRow out, double value) const override { cuda::fill(device_, out, value); }
  void copy(const UpdateView& rows, std::size_t i, MutableRow out) const override {
    cuda::copy(device_, rows, i, out, cuda::End::kLater);
  }
  void put(const UpdateView& host, std::size_t i, MutableRow out) const override {
    cuda::copy(device_, host, i, out, cuda::End::kWait);
  }
  void get(const UpdateView& rows, std::size_t i, MutableRow host) const override {
    cuda::copy(device_, rows, i, host, cuda::End::kWait);
  }

 private:
  cuda::Device device_;
};

Result<int> usable_device(const CudaOptions& options) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("no NVIDIA GPU can be used here: {}", cudaGetErrorString(status))};
  }
  if (options.device < 0 || options.device >= devices) {
    return invalid_argument(
        fmt::format("no GPU {}; there are {}, counted from 0", options.device, devices));
  }
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, options.device);
  if (major < 9) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("GPU {} has compute capability {}; boba's kernels need 9.0 or newer",
                             options.device, major)};
  }
  return options.device;
}

}  // namespace

bool cuda_built() { return true; }

Result<std::unique_ptr<const Kernels>> make_cuda_kernels(const CudaOptions& options) {
  const Result<int> device = usable_device(options);
  if (!device) return device.error();
  try {
    return std::unique_ptr<const Kernels>(std::make_unique<CudaKernels>(*device));
  } catch (const DeviceError& error) {
    return Error{ErrorCode::kUnsupported, error.what()};
  }
}

}  // namespace boba
