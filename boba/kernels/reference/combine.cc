#include "boba/kernels/reference/passes.h"

namespace boba::reference {
namespace {

template <class T>
OutputPass run(const UpdateView& rows, std::span<const double> weights, double keep,
               std::span<T> out) {
  OutputPass pass;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    pass.scan.push_back(weights[i] == 0 ? RowScan{} : scan_row(rows.row<T>(i), rows.length()));
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double kept = keep == 0 ? 0 : keep * static_cast<double>(out[k]);
    out[k] = static_cast<T>(kept + weighted_sum<T>(rows, weights, k));
    pass.finite = pass.finite && std::isfinite(out[k]);
  }
  return pass;
}

}  // namespace

OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                   MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(rows, weights, keep, out.as<T>());
  });
}

}  // namespace boba::reference
