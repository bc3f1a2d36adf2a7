// Comma-separated values with quotes: a quoted field may hold commas, line ends and, doubled,
// quotes. A backslash means nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "boba/core/result.h"
#include "simulator/data/stream.h"

namespace boba::sim {

struct CsvRow {
  std::size_t number = 0;    // the first is 1
  std::size_t line = 0;      // of its first byte; the first is 1
  std::uint64_t offset = 0;  // of its first byte
  std::span<const std::string> fields;
};

// Reads the whole file and skips empty lines. Every row must have this many fields; 0: any number.
// An error of body ends it.
Result<void> read_csv(ByteStream& stream, std::size_t columns,
                      const std::function<Result<void>(const CsvRow&)>& body);

}  // namespace boba::sim
