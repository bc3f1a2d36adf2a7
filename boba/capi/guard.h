// Where exceptions and Results stop and C begins.
#pragma once

#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "boba/capi/boba.h"
#include "boba/core/result.h"

namespace boba::capi {

// Keeps the sentence for boba_last_error() and gives the status back. Allocates nothing.
boba_status fail(boba_status status, std::string_view sentence) noexcept;

inline boba_status fail(const Error& error) noexcept {
  return fail(static_cast<boba_status>(error.code), error.message);
}

// For what is not part of a verdict or report; the core has no such code.
inline Error not_found(std::string message) {
  return {static_cast<ErrorCode>(BOBA_NOT_FOUND), std::move(message)};
}

// Runs body, which returns Result<void>; what it throws ends here.
template <class Body>
boba_status guarded(Body&& body) noexcept {
  try {
    const Result<void> result = body();
    return result ? BOBA_OK : fail(result.error());
  } catch (const std::bad_alloc&) {
    return fail(BOBA_INTERNAL, "memory ran out");
  } catch (const std::exception& error) {
    return fail(BOBA_INTERNAL, error.what());
  } catch (...) {
    return fail(BOBA_INTERNAL, "an unknown exception was thrown");
  }
}

// A pointer that may not be NULL, and what the caller knows it as.
struct Given {
  const void* pointer;
  std::string_view name;
};

// An error that names the operation and the first pointer that is NULL.
Result<void> need(std::string_view operation, std::initializer_list<Given> given);

}  // namespace boba::capi
