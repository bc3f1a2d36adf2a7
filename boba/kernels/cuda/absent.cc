// A build without CUDA.
#include "boba/kernels/cuda/cuda.h"
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
                          const DeviceRound& /*round*/, MutableRow /*out*/, Memory* /*memory*/) {
  return absent();
}

}  // namespace boba
