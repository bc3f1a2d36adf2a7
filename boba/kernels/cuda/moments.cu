// Mean and standard deviation of each coordinate. A thread has sixteen bytes of every row and reads
// them twice, mostly from the cache the second time.
#include "boba/kernels/cuda/passes.h"
#include "boba/kernels/cuda/rows.cuh"

namespace boba::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kGroup = 8;  // rows in flight

template <class T, int V>
__global__ void __launch_bounds__(kThreads)
    moments_kernel(const __grid_constant__ RowTable<T> rows, int count, double mean_factor,
                   double deviation_factor, T* out, std::size_t length, Seen<T> seen) {
  Bits<T>* bits = seen.bits;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  each_tile<V, kThreads>(length, [&](auto whole, std::size_t k) {
    constexpr bool kWhole = decltype(whole)::value;
    double mean[V] = {};
    for (int i = 0; i < count; i += kGroup) {
      Piece<T, V> piece[kGroup];
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        piece[g] = load_piece<kWhole, T, V>(rows[min(i + g, count - 1)], k, length);
      }
      Bits<T> mine = 0;
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        Bits<T> largest = 0;
#pragma unroll
        for (int v = 0; v < V; ++v) {
          largest = max(largest, abs_bits(piece[g].x[v]));
          mean[v] += i + g < count ? static_cast<double>(piece[g].x[v]) : 0.0;
        }
        largest = warp_max(largest);
        mine = lane == g ? largest : mine;
      }
      const int r = min(i + lane, count - 1);
      if (lane < kGroup && bits[r] < mine) atomicMax(&bits[r], mine);
    }
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (count > 0) mean[v] /= static_cast<double>(count);
    }
    double squares[V] = {};
    const bool spread = count > 1 && deviation_factor != 0;
    for (int i = 0; spread && i < count; i += kGroup) {
      Piece<T, V> piece[kGroup];
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        piece[g] = load_piece<kWhole, T, V>(rows[min(i + g, count - 1)], k, length);
      }
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          const double x = static_cast<double>(piece[g].x[v]) - mean[v];
          squares[v] += i + g < count ? x * x : 0.0;
        }
      }
    }
    Bits<T> written = 0;
    Piece<T, V> result;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      double value = mean_factor * mean[v];
      if (spread) value += deviation_factor * sqrt(squares[v] / static_cast<double>(count - 1));
      result.x[v] = static_cast<T>(value);
      if (kWhole || k + v < length) written = max(written, abs_bits(result.x[v]));
    }
    store_piece<kWhole>(result, out, k, length);
    written = warp_max(written);
    if (lane == 0 && bits[count] < written) atomicMax(&bits[count], written);
  });
  publish_bits(bits, count + 1, seen.host, seen.ended);
}

template <class T>
OutputPass run(const Device& device, const UpdateView& view, double mean_factor,
               double deviation_factor, std::span<T> out) {
  const std::vector<const T*> rows = row_pointers<T>(view);
  if (out.empty()) return empty_pass<T>(view.rows());
  const Device::Turn turn(device);
  turn.admit(rows.size());
  const KernelRows<T> kernel_rows(turn, rows);
  const auto launch = [&](auto vector) {
    constexpr int kV = decltype(vector)::value;
    const auto kernel = moments_kernel<T, kV>;
    const std::size_t tiles = (out.size() + kThreads * kV - 1) / (kThreads * kV);
    kernel<<<resident_blocks(turn, kernel, kThreads, 0, tiles), kThreads, 0, turn.stream()>>>(
        kernel_rows.table(), static_cast<int>(rows.size()), mean_factor, deviation_factor,
        out.data(), out.size(), Seen<T>(turn));
  };
  std::vector<const T*> touched = rows;
  touched.push_back(out.data());
  if (aligned(touched)) {
    launch(std::integral_constant<int, kVector<T>>{});
  } else {
    launch(std::integral_constant<int, 1>{});
  }
  check(cudaGetLastError(), "take moments");
  return wait_for_output<T>(turn, all_rows(rows.size()), view.rows());
}

}  // namespace

OutputPass moments(const Device& device, const UpdateView& rows, double mean_factor,
                   double deviation_factor, MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(device, rows, mean_factor, deviation_factor, out.as<T>());
  });
}

}  // namespace boba::cuda
