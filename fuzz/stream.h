// A stream over the bytes of a fuzzer, and what every reader's error must be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "fuzz/check.h"
#include "simulator/data/stream.h"

inline boba::sim::ByteStream fuzz_stream(const std::uint8_t* data, std::size_t size) {
  return boba::sim::ByteStream::from_memory("fuzz", {data, size});
}

// It names the file and a place in it.
inline void check_error(const boba::Error& error, std::size_t size) {
  const std::string start = "fuzz: at byte ";
  require(error.message.starts_with(start), "an error names the file and a place");
  const unsigned long long offset =
      std::strtoull(error.message.c_str() + start.size(), nullptr, 10);
  require(offset <= size, "the place is in the file");
}
