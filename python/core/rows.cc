#include "python/core/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace nb = nanobind;

namespace boba::python {
namespace {

[[noreturn]] void type_error(const std::string& sentence) {
  throw nb::type_error(sentence.c_str());
}
[[noreturn]] void value_error(const std::string& sentence) {
  throw nb::value_error(sentence.c_str());
}

// With the type of the numbers where the value tells it: other byte orders, objects, ...
std::string kind_of(nb::handle value) {
  const std::string kind = nb::type_name(value.type()).c_str();
  const nb::object dtype = nb::getattr(value, "dtype", nb::none());
  return dtype.is_none() ? kind : fmt::format("{} of {}", kind, nb::str(dtype).c_str());
}

std::string dtype_name(nb::dlpack::dtype dtype) {
  switch (static_cast<nb::dlpack::dtype_code>(dtype.code)) {
    case nb::dlpack::dtype_code::Int:
      return fmt::format("int{}", dtype.bits);
    case nb::dlpack::dtype_code::UInt:
      return fmt::format("uint{}", dtype.bits);
    case nb::dlpack::dtype_code::Float:
      return fmt::format("float{}", dtype.bits);
    case nb::dlpack::dtype_code::Bfloat:
      return fmt::format("bfloat{}", dtype.bits);
    case nb::dlpack::dtype_code::Complex:
      return fmt::format("complex{}", dtype.bits);
    case nb::dlpack::dtype_code::Bool:
      return "bool";
    default:
      return fmt::format("type {} of {} bits", dtype.code, dtype.bits);
  }
}

// name gives what sentences call the array; it is asked only where there is one to write.
template <class Array, class Name>
DType checked_dtype(const Array& array, const Name& name) {
  if (array.device_type() != nb::device::cpu::value) {
    type_error(fmt::format(
        "{} lies on a device of kind {}, not in main memory; move it there, as with .cpu()", name(),
        array.device_type()));
  }
  if (array.dtype() == nb::dtype<float>()) return DType::kFloat32;
  if (array.dtype() == nb::dtype<double>()) return DType::kFloat64;
  type_error(
      fmt::format("{} is {}; boba takes float32 and float64", name(), dtype_name(array.dtype())));
}

std::size_t bytes_of(DType dtype) {
  return dtype == DType::kFloat32 ? sizeof(float) : sizeof(double);
}

// Whether the numbers of the axes from skipped on follow each other without gaps.
template <class Array>
bool contiguous(const Array& array, std::size_t skipped) {
  std::int64_t expected = 1;
  for (std::size_t axis = array.ndim(); axis-- > skipped;) {
    if (array.shape(axis) != 1 && array.stride(axis) != expected) return false;
    expected *= static_cast<std::int64_t>(array.shape(axis));
  }
  return true;
}

// Copies the numbers of the axes from axis on in C order and gives the end of the copy. memcpy,
// because they need not be aligned.
template <Element T>
T* copy_axes(const std::byte* from, T* to, const std::vector<std::size_t>& shape,
             const std::int64_t* strides, std::size_t axis) {
  const std::int64_t step = strides[axis] * static_cast<std::int64_t>(sizeof(T));
  const bool last = axis + 1 == shape.size();
  for (std::size_t i = 0; i < shape[axis]; ++i, from += step) {
    if (last) {
      std::memcpy(to++, from, sizeof(T));
    } else {
      to = copy_axes(from, to, shape, strides, axis + 1);
    }
  }
  return to;
}

void add_row(RowList& list, DType dtype, const void* data, std::size_t length) {
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* row = static_cast<const T*>(data);
    list.add(UpdateView(std::span<const T* const>(&row, 1), length));
  });
}

}  // namespace

Rows::Rows(nb::handle value, std::string what) : what_(std::move(what)) {
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    read_list(value);
    return;
  }
  Array array;
  if (!nb::try_cast(value, array, false)) {
    type_error(
        fmt::format("{} is {}; it is an array with a row for each client, or a list of "
                    "arrays, of float32 or float64",
                    what_, kind_of(value)));
  }
  read_matrix(array);
}

std::uintptr_t Rows::address(std::size_t i) const {
  if (i >= rows()) throw nb::index_error("no such row");
  return visit(dtype(), [&](auto zero) {
    return reinterpret_cast<std::uintptr_t>(list_.view().row<decltype(zero)>(i));
  });
}

void Rows::read_matrix(const Array& array) {
  if (array.ndim() < 2) {
    value_error(
        fmt::format("{} is an array of {} dimension{}; it needs a first axis of clients and "
                    "at least one more",
                    what_, array.ndim(), array.ndim() == 1 ? "" : "s"));
  }
  const DType dtype = checked_dtype(array, [&] { return what_; });
  std::size_t length = 1;
  for (std::size_t axis = 1; axis < array.ndim(); ++axis) {
    shape_.push_back(array.shape(axis));
    length *= array.shape(axis);
  }
  list_ = RowList(dtype, length);
  kept_.push_back(array);
  const auto* begin = static_cast<const std::byte*>(array.data());
  const auto step = array.stride(0) * static_cast<std::int64_t>(bytes_of(dtype));
  for (std::size_t i = 0; i < array.shape(0); ++i) {
    add(array, 1, begin + static_cast<std::int64_t>(length == 0 ? 0 : i) * step);
  }
}

void Rows::read_list(nb::handle value) {
  const std::size_t count = nb::len(value);
  kept_.reserve(count);
  std::size_t i = 0;
  for (nb::handle item : value) {
    const auto name = [&] { return fmt::format("{}[{}]", what_, i); };
    Array array;
    if (!nb::try_cast(item, array, false)) {
      type_error(fmt::format("{} is {}; it is an array of float32 or float64 in main memory",
                             name(), kind_of(item)));
    }
    if (array.ndim() == 0) value_error(fmt::format("{} is a single number, not a row", name()));
    const DType dtype = checked_dtype(array, name);
    const std::span shape(array.shape_ptr(), array.ndim());
    if (i == 0) {
      shape_.assign(shape.begin(), shape.end());
      list_ = RowList(dtype, array.size());
    }
    if (!std::equal(shape.begin(), shape.end(), shape_.begin(), shape_.end())) {
      value_error(fmt::format("{} has the shape ({}), {}[0] has ({}); all rows are alike", name(),
                              fmt::join(shape, ", "), what_, fmt::join(shape_, ", ")));
    }
    if (dtype != this->dtype()) {
      type_error(fmt::format("{} is {}, {}[0] is {}; all rows are alike", name(), boba::name(dtype),
                             what_, boba::name(this->dtype())));
    }
    add(array, 0, static_cast<const std::byte*>(array.data()));
    kept_.push_back(std::move(array));
    ++i;
  }
}

void Rows::add(const Array& array, std::size_t skipped, const std::byte* begin) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(begin) % bytes_of(dtype()) == 0;
  if (length() == 0 || (aligned && contiguous(array, skipped))) {
    add_row(list_, dtype(), begin, length());
    return;
  }
  UpdateMatrix& copy = copies_.emplace_back(dtype(), 1, length());
  visit(dtype(), [&](auto zero) {
    auto* to = copy.row_as<decltype(zero)>(0).data();
    copy_axes(begin, to, shape_, array.stride_ptr() + skipped, 0);
    add_row(list_, dtype(), to, length());
  });
}

MutableRow writable_row(const nb::ndarray<>& array, DType dtype, std::size_t length) {
  if (checked_dtype(array, [] { return "out"; }) != dtype) {
    type_error(fmt::format("out is not {} as the updates are", name(dtype)));
  }
  if (!contiguous(array, 0)) type_error("out is not contiguous");
  if (array.size() != length) {
    value_error(fmt::format("out has length {}, the updates have length {}", array.size(), length));
  }
  return visit(dtype, [&](auto zero) -> MutableRow {
    using T = decltype(zero);
    return std::span<T>(static_cast<T*>(array.data()), length);
  });
}

}  // namespace boba::python
