#include "python/core/errors.h"

#include <nanobind/nanobind.h>

#include <string>

#include "boba/text/printable.h"

namespace nb = nanobind;

namespace boba::python {

void raise(const Error& error) {
  const std::string message = printable(error.message);
  switch (error.code) {
    case ErrorCode::kRefused:
      throw Refused(message);
    case ErrorCode::kIo:
      PyErr_SetString(PyExc_OSError, message.c_str());
      throw nb::python_error();
    case ErrorCode::kInternal:
      throw std::runtime_error(message);
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported:
      break;
  }
  throw nb::value_error(message.c_str());
}

}  // namespace boba::python
