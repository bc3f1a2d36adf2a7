#include "boba/kernels/reference/passes.h"

namespace boba::reference {
namespace {

template <class T>
OutputPass run(const UpdateView& rows, double mean_factor, double deviation_factor,
               std::span<T> out) {
  const std::size_t n = rows.rows();
  OutputPass pass;
  for (std::size_t i = 0; i < n; ++i) pass.scan.push_back(scan_row(rows.row<T>(i), rows.length()));
  for (std::size_t k = 0; k < out.size(); ++k) {
    double mean = 0;
    for (std::size_t i = 0; i < n; ++i) mean += static_cast<double>(rows.row<T>(i)[k]);
    if (n > 0) mean /= static_cast<double>(n);
    double result = mean_factor * mean;
    if (n > 1 && deviation_factor != 0) {
      double squares = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(rows.row<T>(i)[k]) - mean;
        squares += x * x;
      }
      result += deviation_factor * std::sqrt(squares / static_cast<double>(n - 1));
    }
    out[k] = static_cast<T>(result);
    pass.finite = pass.finite && std::isfinite(out[k]);
  }
  return pass;
}

}  // namespace

OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                   MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(rows, mean_factor, deviation_factor, out.as<T>());
  });
}

}  // namespace boba::reference
