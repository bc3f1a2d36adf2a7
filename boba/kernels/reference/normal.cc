#include "boba/kernels/reference/passes.h"

namespace boba::reference {

OutputPass normal(const StreamKey& key, double sigma, MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    OutputPass pass;
    const std::span<T> to = out.as<T>();
    for (std::size_t k = 0; k < to.size(); ++k) {
      to[k] = static_cast<T>(sigma * normal_at(key, k));
      pass.finite = pass.finite && std::isfinite(to[k]);
    }
    return pass;
  });
}

}  // namespace boba::reference
