// Weighted sums of rows. Memory limits the speed, so each thread has sixteen bytes of every row,
// and several rows are in flight at a time.
#include "boba/kernels/cuda/passes.h"
#include "boba/kernels/cuda/rows.cuh"

namespace boba::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kGroup = 8;  // rows in flight

template <class T, int V>
__global__ void __launch_bounds__(kThreads, 6)
    combine_kernel(const __grid_constant__ RowTable<T> rows,
                   const __grid_constant__ WeightTable weights, int count, double keep, T* out,
                   std::size_t length, Seen<T> out_bits) {
  extern __shared__ unsigned long long shared[];
  auto* seen = reinterpret_cast<Bits<T>*>(shared);  // of each row, then of the output
  for (int i = threadIdx.x; i <= count; i += kThreads) seen[i] = 0;
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Bits<T> written = 0;
  each_tile<V, kThreads>(length, [&](auto whole, std::size_t k) {
    constexpr bool kWhole = decltype(whole)::value;
    double sum[V] = {};
    if (keep != 0) {
      const Piece<T, V> old = load_piece<kWhole, T, V>(out, k, length);
#pragma unroll
      for (int v = 0; v < V; ++v) sum[v] = keep * static_cast<double>(old.x[v]);
    }
    // There is no branch between the rows of a group, so all its loads start before the first is
    // used. A last group that is not full reads its last row again, and counts it once.
    const auto add_group = [&](auto full, int i) {
      constexpr bool kFull = decltype(full)::value;
      Piece<T, V> piece[kGroup];
      double weight[kGroup];
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        const int r = kFull ? i + g : min(i + g, count - 1);
        piece[g] = load_piece<kWhole, T, V>(rows[r], k, length);
        weight[g] = weights[r];
      }
      Bits<T> mine = 0;
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        const bool counts = kFull || i + g < count;
        Bits<T> largest = 0;
#pragma unroll
        for (int v = 0; v < V; ++v) {
          largest = max(largest, abs_bits(piece[g].x[v]));
          sum[v] += counts ? weight[g] * static_cast<double>(piece[g].x[v]) : 0.0;
        }
        largest = warp_max(largest);
        mine = lane == g ? largest : mine;
      }
      if (lane < kGroup && i + lane < count && seen[i + lane] < mine) {
        atomicMax(&seen[i + lane], mine);
      }
    };
    int i = 0;
    for (; i + kGroup <= count; i += kGroup) add_group(std::true_type{}, i);
    if (i < count) add_group(std::false_type{}, i);
    Piece<T, V> result;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      result.x[v] = static_cast<T>(sum[v]);
      if (kWhole || k + v < length) written = max(written, abs_bits(result.x[v]));
    }
    store_piece<kWhole>(result, out, k, length);
  });
  written = warp_max(written);
  if (lane == 0) atomicMax(&seen[count], written);
  __syncthreads();
  for (int i = threadIdx.x; i <= count; i += kThreads) {
    if (out_bits.bits[i] < seen[i]) atomicMax(&out_bits.bits[i], seen[i]);
  }
  publish_bits(out_bits.bits, count + 1, out_bits.host, out_bits.ended);
}

template <class T>
OutputPass run(const Device& device, const UpdateView& view, std::span<const double> all_weights,
               double keep, std::span<T> out) {
  std::vector<const T*> rows;
  std::vector<double> weights;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < view.rows(); ++i) {
    if (all_weights[i] == 0) continue;
    rows.push_back(view.row<T>(i));
    weights.push_back(all_weights[i]);
    index.push_back(i);
  }
  if (out.empty()) return empty_pass<T>(view.rows());
  std::vector<const T*> touched = rows;
  touched.push_back(out.data());

  const Device::Turn turn(device);
  turn.admit(rows.size());
  const KernelRows<T> kernel_rows(turn, rows);
  const KernelWeights kernel_weights(turn, weights);
  const auto launch = [&](auto vector) {
    constexpr int kV = decltype(vector)::value;
    const auto kernel = combine_kernel<T, kV>;
    const std::size_t tiles = (out.size() + kThreads * kV - 1) / (kThreads * kV);
    const std::size_t shared = (rows.size() + 1) * sizeof(Bits<T>);
    allow_shared(kernel, shared);
    const unsigned blocks = resident_blocks(turn, kernel, kThreads, shared, tiles);
    kernel<<<blocks, kThreads, shared, turn.stream()>>>(kernel_rows.table(), kernel_weights.table(),
                                                        static_cast<int>(rows.size()), keep,
                                                        out.data(), out.size(), Seen<T>(turn));
  };
  if (aligned(touched)) {
    launch(std::integral_constant<int, kVector<T>>{});
  } else {
    launch(std::integral_constant<int, 1>{});
  }
  check(cudaGetLastError(), "sum rows");
  return wait_for_output<T>(turn, index, view.rows());
}

}  // namespace

OutputPass combine(const Device& device, const UpdateView& rows, std::span<const double> weights,
                   double keep, MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(device, rows, weights, keep, out.as<T>());
  });
}

}  // namespace boba::cuda
