// How a pass that adds up products divides the columns into chunks.
//
// Each chunk of columns has its own sums, and these are added in the order of the chunks. Where
// chunks begin depends on the whole length alone, so the bits depend neither on the number of
// threads nor on which machine holds which chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "boba/kernels/cpu/simd.h"

namespace boba::cpu {

constexpr std::size_t ceil_divide(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Chunks begin at multiples of this many columns. It is a multiple of every tile and block, or
// divides it.
inline constexpr std::size_t kChunkUnit = 2048;

// Columns of a chunk, a multiple of the unit. Up to 2^17 columns a chunk is one unit; up to 2^24
// there are 33 to 64 chunks, enough for the threads of a machine. Longer rows have more chunks, of
// about 2^18 columns, so that each of many machines can hold some. From 2^28 columns on the chunks
// grow instead, because more than 1024 sums would take much memory.
constexpr std::size_t chunk_columns(std::size_t length) {
  constexpr std::size_t kFewest = 64;
  constexpr std::size_t kMost = 1024;
  constexpr std::size_t kLong = std::size_t{1} << 18;
  const std::size_t count = std::clamp(length / kLong, kFewest, kMost);
  return kChunkUnit * std::max<std::size_t>(1, ceil_divide(length, kChunkUnit * count));
}

// Which columns the rows of a call hold: those from `first` on of updates of length `whole`.
// REQUIRES: first is a multiple of chunk_columns(whole), and so is the end unless it is `whole`.
struct Columns {
  std::size_t whole = 0;
  std::size_t first = 0;
};

// The sums of a pass, chunk by chunk.
struct ChunkSums {
  std::size_t width = 0;       // sums per chunk
  std::vector<double> values;  // chunk after chunk
  std::vector<AbsBits> bits;   // of the largest absolute value of each row

  // Adds sums [begin, end) of every chunk to total, in the order of the chunks.
  void add_to(std::span<double> total, std::size_t begin, std::size_t end) const {
    for (std::size_t at = 0; at < values.size(); at += width) {
      for (std::size_t k = begin; k < end; ++k) total[k] += values[at + k];
    }
  }

  std::vector<double> total() const {
    std::vector<double> sum(width, 0.0);
    add_to(sum, 0, width);
    return sum;
  }
};

}  // namespace boba::cpu
