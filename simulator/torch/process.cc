#include "simulator/torch/process.h"

#include <cblas.h>
#include <malloc.h>
#include <torch/torch.h>

#include <mutex>

namespace boba::sim {

void prepare_process() {
  static std::once_flag once;
  std::call_once(once, [] {
    at::set_num_threads(1);
    openblas_set_num_threads(1);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
  });
}

}  // namespace boba::sim
