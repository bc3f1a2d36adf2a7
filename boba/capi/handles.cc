#include "boba/capi/handles.h"

#include <fmt/format.h>

#include "boba/capi/guard.h"
#include "boba/core/size.h"
#include "boba/text/names.h"

namespace boba::capi {

Result<DType> dtype_of(std::string_view operation, boba_dtype dtype) {
  if (dtype == BOBA_FLOAT32) return DType::kFloat32;
  if (dtype == BOBA_FLOAT64) return DType::kFloat64;
  return invalid_argument(
      fmt::format("{}: no type {}; types are BOBA_FLOAT32 and BOBA_FLOAT64", operation, dtype));
}

Result<void> check_length(std::string_view operation, DType dtype, std::size_t rows,
                          std::size_t length) {
  if (length > 0) return check_size(operation, dtype, rows, length);
  return invalid_argument(fmt::format("{}: length is 0; it is at least 1", operation));
}

Result<void> check_array(std::string_view operation, std::string_view what, const void* data,
                         DType dtype) {
  if (data == nullptr) return invalid_argument(fmt::format("{}: {} is NULL", operation, what));
  const std::size_t width = dtype == DType::kFloat32 ? alignof(float) : alignof(double);
  if (reinterpret_cast<std::uintptr_t>(data) % width == 0) return {};
  return invalid_argument(fmt::format("{}: {} is not aligned to the {} bytes of a {}", operation,
                                      what, width, name(dtype)));
}

MutableRow mutable_row(void* data, std::size_t length, DType dtype) {
  return visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    return MutableRow(std::span<T>(static_cast<T*>(data), length));
  });
}

void add_row(RowList& list, const void* data, std::size_t length, DType dtype) {
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* const row = static_cast<const T*>(data);
    list.add(UpdateView(std::span<const T* const>(&row, 1), length));
  });
}

Result<void> in_range(std::string_view operation, std::string_view what, std::size_t index,
                      std::size_t count) {
  if (index < count) return {};
  return invalid_argument(
      fmt::format("{}: no {} {}; there are {}, counted from 0", operation, what, index, count));
}

Result<void> measure_at(std::string_view operation, std::span<const NamedValue> measures,
                        std::size_t index, const char** name, double* value) {
  if (Result<void> good = in_range(operation, "measure", index, measures.size()); !good) {
    return good;
  }
  *name = measures[index].name.c_str();
  *value = measures[index].value;
  return {};
}

Result<void> measure_named(std::string_view operation, std::span<const NamedValue> measures,
                           std::string_view name, double* value) {
  std::vector<std::string_view> names;
  for (const NamedValue& measure : measures) {
    if (measure.name == name) {
      *value = measure.value;
      return {};
    }
    names.push_back(measure.name);
  }
  return not_found(fmt::format("{}: no measure '{}'; measures are: {}", operation, name,
                               names.empty() ? "none" : join(names)));
}

}  // namespace boba::capi
