// Result<T>: a value, or an Error. An error says what is wrong, with the value, and what is
// allowed.
//
// Result is for faults that a user or a network can cause, assert for faults that only our own code
// can cause.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace boba {

enum class ErrorCode {
  kInvalidArgument = 1,  // the caller can mend it: spec, shape, option, missing input
  kRefused = 2,          // an upload is refused, or the updates left are too few
  kIo = 3,               // a file could not be read or written
  kUnsupported = 4,      // not built, or not offered for this input
  kInternal = 5,         // a fault of boba, or memory ran out
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
};

inline Error invalid_argument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // REQUIRES: !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const {
    assert(!ok_);
    return error_;
  }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace boba
