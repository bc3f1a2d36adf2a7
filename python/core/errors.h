// How an Error of the core becomes a Python exception.
#pragma once

#include <stdexcept>
#include <string>

#include "boba/core/result.h"

namespace boba::python {

// Too few updates were left after refusing unusable ones: boba.RefusedError, a ValueError.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ValueError with the core's sentence, safe for a terminal; RefusedError, OSError and RuntimeError
// where they fit better.
[[noreturn]] void raise(const Error& error);

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

}  // namespace boba::python
