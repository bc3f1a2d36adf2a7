#include "boba/core/kernels.h"

#include <algorithm>
#include <cassert>

#include "boba/core/random.h"

namespace boba {
namespace {

void copy_row(const UpdateView& rows, std::size_t i, const MutableRow& out) {
  assert(rows.dtype() == out.dtype() && rows.length() == out.length());
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::copy_n(rows.row<T>(i), rows.length(), out.as<T>().begin());
  });
}

}  // namespace

UpdateMatrix Kernels::make_rows(DType dtype, std::size_t rows, std::size_t length) const {
  return {dtype, rows, length};
}

void Kernels::fill(MutableRow out, double value) const {
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::ranges::fill(out.as<T>(), static_cast<T>(value));
  });
}

void Kernels::copy(const UpdateView& rows, std::size_t i, MutableRow out) const {
  copy_row(rows, i, out);
}

void Kernels::put(const UpdateView& host, std::size_t i, MutableRow out) const {
  copy_row(host, i, out);
}

void Kernels::get(const UpdateView& rows, std::size_t i, MutableRow host) const {
  copy_row(rows, i, host);
}

GramPass Kernels::gram_of_columns(const UpdateView& rows, std::size_t first,
                                  std::size_t count) const {
  return gram(RowList(rows).columns(first, count).view(), {});
}

Result<std::uint64_t> Kernels::secret_seed() const { return fresh_seed(); }

}  // namespace boba
