#include <algorithm>
#include <cassert>
#include <compare>
#include <vector>

#include "boba/kernels/reference/passes.h"

namespace boba::reference {
namespace {

template <class T>
std::vector<T> column_of(const UpdateView& rows, const Mix* mix, std::size_t k) {
  std::vector<T> column;
  if (mix == nullptr) {
    for (std::size_t i = 0; i < rows.rows(); ++i) column.push_back(rows.row<T>(i)[k]);
    return column;
  }
  for (std::size_t i = 0; i < mix->rows(); ++i) {
    double sum = 0;
    for (const Mix::Term& term : mix->terms(i)) {
      if (term.weight != 0) sum += term.weight * static_cast<double>(rows.row<T>(term.row)[k]);
    }
    column.push_back(static_cast<T>(sum));
  }
  return column;
}

template <class T>
OutputPass run(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
               std::span<T> out) {
  assert(first < last && last <= (mix == nullptr ? rows.rows() : mix->rows()));
  std::vector<bool> used(rows.rows(), mix == nullptr);
  for (std::size_t i = 0; mix != nullptr && i < mix->rows(); ++i) {
    for (const Mix::Term& term : mix->terms(i)) used[term.row] = used[term.row] || term.weight != 0;
  }
  OutputPass pass;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    pass.scan.push_back(used[i] ? scan_row(rows.row<T>(i), rows.length()) : RowScan{});
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    std::vector<T> column = column_of<T>(rows, mix, k);
    // A total order, with NaN beyond infinity: plain < on NaN is not an order at all.
    std::sort(column.begin(), column.end(),
              [](T a, T b) { return std::strong_order(a, b) == std::strong_ordering::less; });
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += static_cast<double>(column[i]);
    out[k] = static_cast<T>(sum / static_cast<double>(last - first));
    pass.finite = pass.finite && std::isfinite(out[k]);
  }
  return pass;
}

}  // namespace

OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
                      MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(rows, mix, first, last, out.as<T>());
  });
}

}  // namespace boba::reference
