// Where LibTorch may throw.
#pragma once

#include <fmt/format.h>
#include <torch/torch.h>

#include <exception>
#include <string_view>

#include "boba/core/result.h"

namespace boba::sim {

template <class Body>
Result<void> guarded(std::string_view what, Body&& body) {
  try {
    body();
    return {};
  } catch (const c10::Error& error) {
    return Error{ErrorCode::kInternal, fmt::format("{}: {}", what, error.what_without_backtrace())};
  } catch (const std::exception& error) {
    return Error{ErrorCode::kInternal, fmt::format("{}: {}", what, error.what())};
  }
}

}  // namespace boba::sim
