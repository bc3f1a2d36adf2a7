// Norms of rows, and their products with one vector. A thread block does one slice of the columns,
// with the vector in shared memory. A warp does one row at a time.
#include <limits>

#include "boba/kernels/cuda/passes.h"
#include "boba/kernels/cuda/rows.cuh"

namespace boba::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kColumns = 1024;  // of the vector at a time
constexpr int kSlices = 1056;

__device__ inline double warp_sum(double x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(~0U, x, step);
  return x;
}

// partial: for each slice (square, product) of each row, then the vector's square.
template <class T, int V>
__global__ void __launch_bounds__(kThreads)
    dots_kernel(const __grid_constant__ RowTable<T> rows, int count,
                const __grid_constant__ RowTable<T> reference,
                const __grid_constant__ WeightTable weights, int references, std::size_t length,
                std::size_t slice, double2* partial, Bits<T>* bits) {
  __shared__ double vector[kColumns];
  double2* mine = partial + static_cast<std::size_t>(blockIdx.x) * (count + 1);
  const std::size_t first = blockIdx.x * slice;
  const std::size_t end = min(length, first + slice);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  double vector_square = 0;
  for (std::size_t from = first; from < end; from += kColumns) {
    const int width = static_cast<int>(min(static_cast<std::size_t>(kColumns), end - from));
    __syncthreads();
    for (int k = threadIdx.x; k < kColumns; k += kThreads) {
      double sum = 0;
      if (k < width) {
        for (int j = 0; j < references; ++j) {
          sum += weights[j] * static_cast<double>(reference[j][from + k]);
        }
      }
      vector[k] = sum;
      vector_square += sum * sum;
    }
    __syncthreads();
    for (int i = warp; i < count; i += kWarps) {
      const T* row = rows[i] + from;
      double square = 0;
      double product = 0;
      Bits<T> largest = 0;
      const auto add = [&](const Piece<T, V>& piece, int k) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          const auto x = static_cast<double>(piece.x[v]);
          largest = max(largest, abs_bits(piece.x[v]));
          square += x * x;
          product += x * vector[k + v];
        }
      };
      if (width == kColumns) {
        constexpr int kPieces = kColumns / (32 * V);
        Piece<T, V> piece[kPieces];
#pragma unroll
        for (int p = 0; p < kPieces; ++p) {
          piece[p] = load_piece<true, T, V>(row, (p * 32 + lane) * V, width);
        }
#pragma unroll
        for (int p = 0; p < kPieces; ++p) add(piece[p], (p * 32 + lane) * V);
      } else {
        for (int k = lane * V; k < width; k += 32 * V) {
          add(load_piece<false, T, V>(row, k, width), k);
        }
      }
      square = warp_sum(square);
      product = warp_sum(product);
      largest = warp_max(largest);
      if (lane == 0) {
        const double2 old = from == first ? make_double2(0, 0) : mine[i];
        mine[i] = make_double2(old.x + square, old.y + product);
        if (bits[i] < largest) atomicMax(&bits[i], largest);
      }
    }
  }
  __syncthreads();
  vector_square = warp_sum(vector_square);
  if (lane == 0) vector[warp] = vector_square;
  __syncthreads();
  if (threadIdx.x == 0) {
    double sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += vector[w];
    mine[count] = make_double2(sum, 0);
  }
}

// Adds the slices. sums and host are in the host's memory; bits are cleared for the next pass.
template <class T>
__global__ void add_slices(const double2* partial, int slices, int columns, double2* sums,
                           Bits<T>* bits, Bits<T>* host) {
  // One warp per row: each lane adds its share, and the lanes' sums are added in a fixed order.
  const auto i = static_cast<int>(blockIdx.x);
  double2 sum = make_double2(0, 0);
#pragma unroll 8
  for (int s = static_cast<int>(threadIdx.x); s < slices; s += 32) {
    const double2 x = partial[static_cast<std::size_t>(s) * columns + i];
    sum.x += x.x;
    sum.y += x.y;
  }
  sum.x = warp_sum(sum.x);
  sum.y = warp_sum(sum.y);
  if (threadIdx.x != 0) return;
  sums[i] = sum;
  host[i] = bits[i];
  bits[i] = 0;
}

template <class T>
DotsPass read_sums(std::span<const double2> sums, std::span<const Bits<T>> bits, bool products) {
  DotsPass pass;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    pass.scan.push_back(scan_of<T>(bits[i]));
    const bool finite = pass.scan[i].finite;
    pass.sq_norm.push_back(finite ? sums[i].x : std::numeric_limits<double>::infinity());
    if (products) pass.dot.push_back(finite ? sums[i].y : 0);
  }
  if (products) pass.reference_sq = sums.back().x;
  return pass;
}

template <class T>
DotsPass run(const Device& device, const UpdateView& view, const UpdateView& reference,
             std::span<const double> all_weights) {
  const std::size_t n = view.rows();
  const std::size_t length = n > 0 ? view.length() : reference.length();
  const std::vector<const T*> rows = row_pointers<T>(view);
  std::vector<const T*> references;
  std::vector<double> weights;
  for (std::size_t j = 0; j < reference.rows(); ++j) {
    if (all_weights[j] == 0) continue;
    references.push_back(reference.row<T>(j));
    weights.push_back(all_weights[j]);
  }
  const bool products = reference.rows() > 0;
  if (length == 0) {
    const std::vector<double2> sums(n + 1);
    const std::vector<Bits<T>> bits(n);
    return read_sums<T>(sums, bits, products);
  }

  const Device::Turn turn(device);
  turn.admit(n, sizeof(double2) / sizeof(std::uint64_t) + 1);
  const KernelRows<T> kernel_rows(turn, rows);
  const KernelRows<T> kernel_references(turn, references);
  const KernelWeights kernel_weights(turn, weights);
  const std::size_t pieces = (length + kSlices - 1) / kSlices;
  const std::size_t slice = (pieces + kColumns - 1) / kColumns * kColumns;
  const auto slices = static_cast<int>((length + slice - 1) / slice);
  const Buffer partial((n + 1) * static_cast<std::size_t>(slices) * sizeof(double2), turn.stream());
  auto* sums = static_cast<double2*>(turn.results());
  auto* seen = reinterpret_cast<Bits<T>*>(sums + n + 1);
  auto* bits = static_cast<Bits<T>*>(turn.bits());
  const auto launch = [&](auto vector) {
    dots_kernel<T, decltype(vector)::value>
        <<<static_cast<unsigned>(slices), kThreads, 0, turn.stream()>>>(
            kernel_rows.table(), static_cast<int>(n), kernel_references.table(),
            kernel_weights.table(), static_cast<int>(references.size()), length, slice,
            partial.as<double2>(), bits);
  };
  if (aligned(rows)) {
    launch(std::integral_constant<int, kVector<T>>{});
  } else {
    launch(std::integral_constant<int, 1>{});
  }
  add_slices<T><<<static_cast<unsigned>(n + 1), 32, 0, turn.stream()>>>(
      partial.as<double2>(), slices, static_cast<int>(n + 1), sums, bits, seen);
  check(cudaGetLastError(), "take products");
  turn.wait();
  return read_sums<T>({sums, n + 1}, {seen, n}, products);
}

}  // namespace

DotsPass dots(const Device& device, const UpdateView& rows, const UpdateView& reference,
              std::span<const double> weights) {
  const DType dtype = rows.rows() > 0 ? rows.dtype() : reference.dtype();
  return visit(dtype,
               [&](auto zero) { return run<decltype(zero)>(device, rows, reference, weights); });
}

}  // namespace boba::cuda
