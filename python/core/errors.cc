#include "python/core/errors.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace boba::python {

void raise(const Error& error) {
  switch (error.code) {
    case ErrorCode::kRefused:
      throw Refused(error.message);
    case ErrorCode::kIo:
      PyErr_SetString(PyExc_OSError, error.message.c_str());
      throw nb::python_error();
    case ErrorCode::kInternal:
      throw std::runtime_error(error.message);
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported:
      break;
  }
  throw nb::value_error(error.message.c_str());
}

}  // namespace boba::python
