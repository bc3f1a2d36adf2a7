// A build without CUDA.
#include "boba/kernels/cuda/cuda.h"
#include "boba/kernels/cuda/matrix.h"
#include "boba/kernels/cuda/view.h"

namespace boba {
namespace {

Error absent() {
  return {ErrorCode::kUnsupported,
          "this build of boba has no CUDA kernels; configure it with -DBOBA_CUDA=ON"};
}

}  // namespace

bool cuda_built() { return false; }

Result<std::unique_ptr<const Kernels>> make_cuda_kernels(const CudaOptions& /*options*/) {
  return absent();
}

Result<std::unique_ptr<const Kernels>> make_hosted_cuda_kernels(const CudaOptions& /*options*/) {
  return absent();
}

Result<DeviceView> DeviceView::make(const UpdateView& /*rows*/, int /*device*/) { return absent(); }

Result<Verdict> aggregate(const Aggregator& /*rule*/, const Kernels& /*cuda*/,
                          const DeviceRound& /*round*/, MutableRow /*out*/) {
  return absent();
}

// There is no matrix to ask anything of.
struct DeviceMatrix::Memory {};
DeviceMatrix::DeviceMatrix() = default;
DeviceMatrix::~DeviceMatrix() = default;
DeviceMatrix::DeviceMatrix(DeviceMatrix&&) noexcept = default;
DeviceMatrix& DeviceMatrix::operator=(DeviceMatrix&&) noexcept = default;
Result<DeviceMatrix> DeviceMatrix::make(DType /*dtype*/, std::size_t /*rows*/,
                                        std::size_t /*length*/, int /*device*/) {
  return absent();
}
MutableRow DeviceMatrix::row(std::size_t /*i*/) const { return {}; }
Result<void> DeviceMatrix::put(std::size_t /*i*/, const UpdateView& /*from*/, std::size_t /*row*/) {
  return absent();
}
Result<void> DeviceMatrix::get(std::size_t /*i*/, MutableRow /*to*/) const { return absent(); }

}  // namespace boba
