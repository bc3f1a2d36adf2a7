// Kernels on an NVIDIA GPU.
//
// Rows are in the GPU's memory; make_rows gives such rows, put and get copy them. A pass reads them
// there and sends little to the host: the Gram matrix, sums, the largest number of each row. The
// result of an aggregation stays on the GPU. Sums are in double, in an order that depends on the
// shape alone, so the same input gives the same bits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/attack.h"
#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/views.h"

namespace boba {

struct CudaOptions {
  int device = 0;
};

// Whether this build has CUDA kernels. The machine may still have no GPU.
bool cuda_built();

// All views of a call hold pointers into the GPU's memory. Work on the rows in other streams than
// the default one must have ended before a call. Fails where boba was built without CUDA, and where
// there is no such GPU. A call throws DeviceError if the GPU fails.
Result<std::unique_ptr<const Kernels>> make_cuda_kernels(const CudaOptions& options = {});

// The same passes for rows in the host's memory: each uploads what it reads.
Result<std::unique_ptr<const Kernels>> make_hosted_cuda_kernels(const CudaOptions& options = {});

class DeviceError : public std::exception {
 public:
  explicit DeviceError(std::string sentence) : sentence_(std::move(sentence)) {}
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  std::string sentence_;
};

}  // namespace boba
