#include "python/core/engine.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "boba/kernels/cpu/cpu.h"
#include "python/core/errors.h"

namespace boba::python {

std::shared_ptr<const Kernels> kernels_for(int threads) {
  constexpr int kMostThreads = 4096;
  if (threads < 0 || threads > kMostThreads) {
    raise(invalid_argument(
        fmt::format("threads={} is outside [0, {}]; 0 is all processors", threads, kMostThreads)));
  }
  static std::mutex mutex;
  static std::map<int, std::shared_ptr<const Kernels>> made;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Kernels>& kernels = made[threads];
  if (!kernels) kernels = make_cpu_kernels({.threads = threads});
  return kernels;
}

}  // namespace boba::python
