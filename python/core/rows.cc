#include "python/core/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "boba/core/size.h"

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

// Shapes are of whoever made the array: below 0, beyond any memory, or with nothing behind them.
template <class Array, class Name>
void check_memory(const Array& array, DType dtype, const Name& name) {
  bool empty = false;
  const std::span shape(array.shape_ptr(), array.ndim());
  const auto text = [&] { return fmt::format("({})", fmt::join(shape, ", ")); };
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      value_error(fmt::format("{} has the shape {}; no axis is below 0", name(), text()));
    }
    empty = empty || extent == 0;
  }
  if (empty) return;
  std::size_t numbers = 1;
  for (const std::int64_t extent : shape) {
    // As many rows as there are numbers so far.
    if (!check_size("array", dtype, numbers, static_cast<std::size_t>(extent))) {
      value_error(fmt::format("{} has the shape {}; no memory can have so many numbers of {}",
                              name(), text(), boba::name(dtype)));
    }
    numbers *= static_cast<std::size_t>(extent);
  }
  if (array.data() == nullptr) {
    value_error(fmt::format("{} has the shape {} and no memory behind it: its data is NULL", name(),
                            text()));
  }
}

// Whether some numbers have several places: a step of 0, as after broadcasting, or rows that
// overlap. Such an array may be far larger than its memory. In double: steps may be anything.
template <class Array>
bool repeats(const Array& array) {
  double numbers = 1;
  double span = 1;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis) {
    const auto extent = static_cast<double>(array.shape(axis));
    numbers *= extent;
    span += (extent - 1) * std::abs(static_cast<double>(array.stride(axis)));
  }
  return numbers > span;
}

// What arrays that repeat numbers may cost in memory of ours.
constexpr std::size_t kMostRepeated = std::size_t{1} << 30;

[[noreturn]] void too_much_repeated(const std::string& name) {
  value_error(fmt::format(
      "{} repeats numbers (it was broadcast, or its rows overlap); written out they take more than "
      "{} bytes, the most that boba copies; if you mean it, copy it first, as with "
      "numpy.ascontiguousarray",
      name, kMostRepeated));
}

// name gives what sentences call the array; it is asked only where there is one to write.
template <class Array, class Name>
DType checked_dtype(const Array& array, const Name& name) {
  if (array.device_type() != nb::device::cpu::value) {
    type_error(fmt::format(
        "{} lies on a device of kind {}, not in main memory; move it there, as with .cpu()", name(),
        array.device_type()));
  }
  const bool single = array.dtype() == nb::dtype<float>();
  if (!single && array.dtype() != nb::dtype<double>()) {
    type_error(
        fmt::format("{} is {}; boba takes float32 and float64", name(), dtype_name(array.dtype())));
  }
  const DType dtype = single ? DType::kFloat32 : DType::kFloat64;
  check_memory(array, dtype, name);
  return dtype;
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

// Whether the row that begins there can be read where it lies. All rows of an array are alike.
template <class Array>
bool in_place(const Array& array, std::size_t skipped, const void* begin, DType dtype) {
  return reinterpret_cast<std::uintptr_t>(begin) % width_of(dtype) == 0 &&
         contiguous(array, skipped);
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
  check_cost(array, 1);
  kept_.push_back(array);
  const auto* begin = static_cast<const std::byte*>(array.data());
  const auto step = array.stride(0) * static_cast<std::int64_t>(width_of(dtype));
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
    check_cost(array, 0);
    kept_.push_back(std::move(array));
    ++i;
  }
  for (const Array& array : kept_) add(array, 0, static_cast<const std::byte*>(array.data()));
}

void Rows::check_cost(const Array& array, std::size_t skipped) {
  const std::size_t rows = skipped == 0 ? 1 : array.shape(0);
  if (length() == 0 && rows > kMostRepeated / sizeof(void*)) {
    value_error(fmt::format("{} has {} rows of no numbers", what_, rows));
  }
  if (!repeats(array)) return;
  repeated_ += rows * sizeof(void*);
  const bool copied = !in_place(array, skipped, array.data(), dtype());
  if (copied) repeated_ += array.size() * width_of(dtype());
  if (repeated_ > kMostRepeated) too_much_repeated(what_);
}

void Rows::add(const Array& array, std::size_t skipped, const std::byte* begin) {
  if (length() == 0 || in_place(array, skipped, begin, dtype())) {
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

void check_copied(nb::handle value, const std::string& what) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(value, array, false)) return;
  if (array.device_type() != nb::device::cpu::value) return;
  // Others see to the type; none that is taken has longer numbers.
  check_memory(array, DType::kFloat64, [&] { return what; });
  if (repeats(array) && array.size() > kMostRepeated / sizeof(double)) too_much_repeated(what);
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
