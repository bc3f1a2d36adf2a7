#include "python/core/oracle.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "python/core/rows.h"

namespace nb = nanobind;

namespace boba::python {
namespace {

// A copy: the oracle may keep it, and the point's memory is used again.
nb::object copy_of(const UpdateView& point) {
  return visit(point.dtype(), [&](auto zero) -> nb::object {
    using T = decltype(zero);
    auto copy = std::make_unique<T[]>(point.length());
    std::copy_n(point.row<T>(0), point.length(), copy.get());
    T* data = copy.get();
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    copy.release();
    return nb::cast(nb::ndarray<nb::numpy, T>(data, {point.length()}, owner));
  });
}

}  // namespace

template <class Body>
auto PythonOracle::guarded(Body body) -> decltype(body()) {
  const nb::gil_scoped_acquire lock;
  try {
    return body();
  } catch (...) {
    raised_ = std::current_exception();
    return Error{ErrorCode::kInternal, "the oracle raised an exception"};
  }
}

Result<double> PythonOracle::loss(const UpdateView& point) {
  return guarded([&]() -> Result<double> {
    const nb::object value = oracle_.attr("loss")(copy_of(point));
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return number;
  });
}

Result<void> PythonOracle::gradient(const UpdateView& point, MutableRow out) {
  return guarded([&]() -> Result<void> {
    nb::list one;
    one.append(oracle_.attr("gradient")(copy_of(point)));
    const Rows row(one, "the oracle's gradient");
    if (row.length() != out.length() || row.dtype() != out.dtype()) {
      return invalid_argument(fmt::format(
          "the oracle's gradient is {} of length {}; it is {} of length {} as the updates are",
          name(row.dtype()), row.length(), name(out.dtype()), out.length()));
    }
    visit(out.dtype(), [&](auto zero) {
      using T = decltype(zero);
      std::copy_n(row.view().row<T>(0), out.length(), out.as<T>().data());
    });
    return {};
  });
}

void PythonOracle::raise_again() {
  if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

}  // namespace boba::python
