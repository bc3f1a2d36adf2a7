#include <limits>
#include <vector>

#include "boba/kernels/reference/passes.h"

namespace boba::reference {
namespace {

template <class T>
DotsPass run(const UpdateView& rows, const UpdateView& reference, std::span<const double> weights) {
  const bool products = reference.rows() != 0;
  DotsPass pass;
  std::vector<double> r(rows.length());
  for (std::size_t k = 0; products && k < r.size(); ++k) {
    r[k] = weighted_sum<T>(reference, weights, k);
    pass.reference_sq += r[k] * r[k];
  }
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const T* row = rows.row<T>(i);
    pass.scan.push_back(scan_row(row, rows.length()));
    double square = 0;
    double product = 0;
    for (std::size_t k = 0; pass.scan[i].finite && k < rows.length(); ++k) {
      const auto x = static_cast<double>(row[k]);
      square += x * x;
      product += x * r[k];
    }
    pass.sq_norm.push_back(pass.scan[i].finite ? square : std::numeric_limits<double>::infinity());
    if (products) pass.dot.push_back(product);
  }
  return pass;
}

}  // namespace

DotsPass dots(const UpdateView& rows, const UpdateView& reference,
              std::span<const double> weights) {
  return visit(rows.dtype(),
               [&](auto zero) { return run<decltype(zero)>(rows, reference, weights); });
}

}  // namespace boba::reference
