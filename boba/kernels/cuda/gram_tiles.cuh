// Tiles and slices of the Gram matrix, for products in double and in digits.
//
// Rows are grouped in blocks of 128, and a pair of blocks is a tile of the matrix. Columns are
// divided into a fixed number of slices. A thread block does one slice for one tile, and a second
// kernel adds the sums in the order of the slices.
#pragma once

#include <limits>

#include "boba/kernels/cuda/rows.cuh"

namespace boba::cuda {
namespace {

constexpr int kBlockRows = 128;
constexpr int kSmallThreads = 256;  // of the kernels that add slices and form the origin

template <class T>
struct GramInput {
  RowTable<T> rows;
  const T* origin;  // null: none is subtracted. Otherwise it is also the last row.
  int count;        // rows, the origin among them
  bool vectors;     // rows are aligned to sixteen bytes
  std::size_t length;
  std::size_t slice;  // columns, a multiple of those of a step
  long long zero;     // see load_rows
};

// The tiles of a launch: those on the diagonal, or those above it row by row. Thread block
// blockIdx.y has tile first + blockIdx.y.
struct TileSet {
  bool diagonal;
  int first;
  int blocks;  // of rows
};

__device__ inline int2 tile_of(const TileSet& tiles) {
  int at = tiles.first + static_cast<int>(blockIdx.y);
  if (tiles.diagonal) return {at, at};
  int row = 0;
  for (int more = tiles.blocks - 1; at >= more; --more) {
    at -= more;
    ++row;
  }
  return {row, row + 1 + at};
}

// The columns of a slice.
struct Columns {
  std::size_t first;
  std::size_t end;
};

template <class T>
__device__ inline Columns columns_of(const GramInput<T>& in) {
  const std::size_t first = blockIdx.x * in.slice;
  return {first, min(in.length, first + in.slice)};
}

template <int Bytes>
__device__ inline void copy_ahead(void* to, const void* from) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(Bytes));
  }
}

__device__ inline double* partial_of(double* partial) {
  return partial +
         (static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * kBlockRows * kBlockRows;
}

// Stores sixteen rows by eight columns of a tile's sums, from where the tensor cores leave them.
__device__ inline void store_sums(const double (&sums)[4], int row, int column, double* to) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  double* at = to + (row * 16 + lane / 4) * kBlockRows + column * 8 + lane % 4 * 2;
  at[0] = sums[0];
  at[1] = sums[1];
  at[8 * kBlockRows] = sums[2];
  at[8 * kBlockRows + 1] = sums[3];
}

// Adds the slices in order, and fills both triangles.
__global__ void add_slices(const __grid_constant__ TileSet tiles, const double* partial, int slices,
                           int count, double* matrix) {
  const int2 pair = tile_of(tiles);
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = pair.x * kBlockRows + at / kBlockRows;
  const int j = pair.y * kBlockRows + at % kBlockRows;
  if (i >= count || j >= count || j < i) return;
  const double* from =
      partial + static_cast<std::size_t>(blockIdx.y) * slices * kBlockRows * kBlockRows + at;
  double sum = 0;
#pragma unroll 16
  for (int s = 0; s < slices; ++s) {
    sum += from[static_cast<std::size_t>(s) * kBlockRows * kBlockRows];
  }
  matrix[static_cast<std::size_t>(i) * count + j] = sum;
  matrix[static_cast<std::size_t>(j) * count + i] = sum;
}

template <class T>
__global__ void form_origin(const __grid_constant__ RowTable<T> rows,
                            const __grid_constant__ WeightTable weights, int count, T* origin,
                            std::size_t length) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t k = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; k < length;
       k += step) {
    double sum = 0;
#pragma unroll 8
    for (int i = 0; i < count; ++i) sum += weights[i] * static_cast<double>(rows[i][k]);
    // Any finite origin serves; an infinite one would spoil all rows.
    origin[k] = static_cast<T>(fmin(fmax(sum, -kMost), kMost));
  }
}

}  // namespace
}  // namespace boba::cuda
