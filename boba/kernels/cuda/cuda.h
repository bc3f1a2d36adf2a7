// Kernels on an NVIDIA GPU.
//
// Rows are in the GPU's memory; make_rows gives such rows, put and get copy them. A pass reads them
// there, and what crosses to the host is small: the Gram matrix, sums, what was seen of each row.
// The result of an aggregation stays on the GPU. Sums are in double, in an order that depends on
// the shape alone, so the same input gives the same bits.
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

// Whether this build has them; a GPU may still be missing.
bool cuda_built();

// Views of its calls hold pointers into the GPU's memory. What other streams than the default one
// do to the rows must have ended before a call. Fails where boba was built without CUDA, and where
// there is no such GPU. A call that the GPU fails throws DeviceError.
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
