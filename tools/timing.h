// Time and memory of a piece of work.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "boba/core/views.h"

namespace boba::tools {

template <class Body>
double milliseconds(Body&& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

// The middle value, or the mean of the middle two. REQUIRES: not empty.
double median(std::vector<double> values);

// Reads every row once and does nothing else with it: the least that any rule can take. Returns a
// sum of the bits, which the caller must use, lest the compiler leave out the reading.
std::uint64_t plain_read(const UpdateView& rows, int threads);

// By how many bytes the resident memory of this process grew at most while body ran; none where
// the system does not tell.
std::optional<std::size_t> peak_growth(const std::function<void()>& body);

}  // namespace boba::tools
