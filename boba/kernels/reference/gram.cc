#include <algorithm>
#include <limits>
#include <vector>

#include "boba/kernels/reference/passes.h"

namespace boba::reference {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

// The origin in the rows' type; one too large for it ends at its largest number.
template <class T>
std::vector<double> form_origin(const UpdateView& rows, std::span<const double> weights) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
  std::vector<double> origin(rows.length());
  for (std::size_t k = 0; k < origin.size(); ++k) {
    const double sum = weighted_sum<T>(rows, weights, k);
    origin[k] = static_cast<double>(static_cast<T>(std::clamp(sum, -kMost, kMost)));
  }
  return origin;
}

template <class T>
GramPass run(const UpdateView& rows, std::span<const double> weights) {
  const std::size_t n = rows.rows();
  const std::vector<double> origin = form_origin<T>(rows, weights);
  GramPass pass;
  pass.centred.assign(n * n, 0.0);
  pass.origin_dot.assign(n, 0.0);
  pass.origin_sq = dot(origin, origin);
  std::vector<std::vector<double>> centred(n, std::vector<double>(rows.length()));
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = rows.row<T>(i);
    pass.scan.push_back(scan_row(row, rows.length()));
    // A row that is not finite stays a row of zeros.
    if (!pass.scan[i].finite) continue;
    for (std::size_t k = 0; k < rows.length(); ++k) {
      centred[i][k] = static_cast<double>(row[k]) - origin[k];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    pass.origin_dot[i] = dot(origin, centred[i]);
    for (std::size_t j = i; j < n; ++j) {
      pass.centred[i * n + j] = pass.centred[j * n + i] = dot(centred[i], centred[j]);
    }
  }
  return pass;
}

}  // namespace

GramPass gram(const UpdateView& rows, std::span<const double> origin) {
  return visit(rows.dtype(), [&](auto zero) { return run<decltype(zero)>(rows, origin); });
}

}  // namespace boba::reference
