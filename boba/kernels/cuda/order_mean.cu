// Order statistics of each coordinate.
//
// Up to 128 rows of float32 (64 of float64): each thread sorts one column in registers, by a
// network that is fixed at compile time (K. Batcher. Sorting Networks and Their Applications. AFIPS
// 1968). More rows, or mixed rows: a tile of columns goes to shared memory as sort keys, and the
// keys at the ends of the wanted range are found bit by bit.
#include <limits>

#include "boba/kernels/cuda/passes.h"
#include "boba/kernels/cuda/rows.cuh"

namespace boba::cuda {
namespace {

// --- Networks

// Numbers are sorted as integers that have the same order, with NaN beyond infinity.
__device__ inline int sortable(float x) {
  const int bits = __float_as_int(x);
  return bits ^ (bits >> 31 & 0x7fffffff);
}
__device__ inline long long sortable(double x) {
  const long long bits = __double_as_longlong(x);
  return bits ^ (bits >> 63 & 0x7fffffffffffffffLL);
}
__device__ inline double number_of(int key) {
  return static_cast<double>(__int_as_float(key ^ (key >> 31 & 0x7fffffff)));
}
__device__ inline double number_of(long long key) {
  return __longlong_as_double(key ^ (key >> 63 & 0x7fffffffffffffffLL));
}
template <class T>
using Sortable = decltype(sortable(T{}));

template <class K>
__device__ inline void exchange(K& a, K& b) {
  const K low = min(a, b);
  b = max(a, b);
  a = low;
}

// Merges the two sorted halves of N elements, First and every Step-th after it.
template <int First, int N, int Step, class T>
__device__ inline void merge(T* x) {
  if constexpr (2 * Step < N) {
    merge<First, N, 2 * Step>(x);
    merge<First + Step, N, 2 * Step>(x);
#pragma unroll
    for (int i = First + Step; i + Step < First + N; i += 2 * Step) exchange(x[i], x[i + Step]);
  } else {
    exchange(x[First], x[First + Step]);
  }
}

template <int First, int N, class T>
__device__ inline void sort(T* x) {
  if constexpr (N > 1) {
    sort<First, N / 2>(x);
    sort<First + N / 2, N / 2>(x);
    merge<First, N, 1>(x);
  }
}

constexpr int kThreads = 128;

// Loads a tile of columns: row i and column k go to tile[i * kThreads + k]. A warp does a row at a
// time, with several rows in flight.
template <bool Whole, class T, int V>
__device__ inline void load_tile(const RowTable<T>& rows, int count, std::size_t from,
                                 std::size_t length, T* tile, Bits<T>* seen) {
  constexpr int kPieces = kThreads / (32 * V);
  constexpr int kGroup = 8 / kPieces > 0 ? 8 / kPieces : 1;
  constexpr int kWarps = kThreads / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int i = warp; i < count; i += kWarps * kGroup) {
    Piece<T, V> piece[kGroup][kPieces];
#pragma unroll
    for (int g = 0; g < kGroup; ++g) {
      const T* row = rows[min(i + g * kWarps, count - 1)];
#pragma unroll
      for (int p = 0; p < kPieces; ++p) {
        piece[g][p] = load_piece<Whole, T, V>(row, from + (p * 32 + lane) * V, length);
      }
    }
#pragma unroll
    for (int g = 0; g < kGroup; ++g) {
      // Beyond the last row, the last row is written again.
      const int r = min(i + g * kWarps, count - 1);
      Bits<T> largest = 0;
#pragma unroll
      for (int p = 0; p < kPieces; ++p) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          largest = max(largest, abs_bits(piece[g][p].x[v]));
        }
        store_piece<true>(piece[g][p], tile + r * kThreads, (p * 32 + lane) * V, kThreads);
      }
      largest = warp_max(largest);
      if (lane == 0) atomicMax(&seen[r], largest);
    }
  }
}

// The mean of the positions [first, last). A tile of columns comes through shared memory, so that
// rows are read in long pieces.
template <class T, int N, int V>
__global__ void __launch_bounds__(kThreads)
    network_kernel(const __grid_constant__ RowTable<T> rows, int count, int first, int last, T* out,
                   std::size_t length, Seen<T> out_bits) {
  extern __shared__ unsigned long long shared[];
  auto* tile = reinterpret_cast<T*>(shared);  // of row i and column k: tile[i * kThreads + k]
  __shared__ Bits<T> seen[N + 1];
  for (int i = static_cast<int>(threadIdx.x); i <= count; i += kThreads) seen[i] = 0;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
  for (std::size_t from = static_cast<std::size_t>(blockIdx.x) * kThreads; from < length;
       from += step) {
    __syncthreads();
    if (from + kThreads <= length) {
      load_tile<true, T, V>(rows, count, from, length, tile, seen);
    } else {
      load_tile<false, T, V>(rows, count, from, length, tile, seen);
    }
    __syncthreads();
    Sortable<T> x[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      // Rows that do not exist sort to the end.
      x[i] = std::numeric_limits<Sortable<T>>::max();
      if (i < count) x[i] = sortable(tile[i * kThreads + static_cast<int>(threadIdx.x)]);
    }
    sort<0, N>(x);
    double sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (i >= first && i < last) sum += number_of(x[i]);
    }
    const T mean = static_cast<T>(sum / static_cast<double>(last - first));
    const std::size_t k = from + threadIdx.x;
    if (k < length) out[k] = mean;
    const Bits<T> written = warp_max(k < length ? abs_bits(mean) : 0);
    if (lane == 0 && seen[count] < written) atomicMax(&seen[count], written);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i <= count; i += kThreads) {
    if (out_bits.bits[i] < seen[i]) atomicMax(&out_bits.bits[i], seen[i]);
  }
  publish_bits(out_bits.bits, count + 1, out_bits.host, out_bits.ended);
}

// --- Keys

// Keys order like the numbers, unsigned.
__device__ inline unsigned int key_of(float x) {
  const unsigned int bits = __float_as_uint(x);
  return bits & 0x80000000U ? ~bits : bits | 0x80000000U;
}
__device__ inline unsigned long long key_of(double x) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(x));
  return bits & 0x8000000000000000ULL ? ~bits : bits | 0x8000000000000000ULL;
}
__device__ inline float value_of(unsigned int key) {
  return __uint_as_float(key & 0x80000000U ? key & 0x7fffffffU : ~key);
}
__device__ inline double value_of(unsigned long long key) {
  return __longlong_as_double(
      static_cast<long long>(key & 0x8000000000000000ULL ? key & 0x7fffffffffffffffULL : ~key));
}

// How rows are mixed: mixed row i has the terms [ends[i - 1], ends[i]).
struct MixTable {
  const int* ends;  // null: rows as they are
  const int* row;
  const double* weight;
};

constexpr int kTileThreads = 256;
constexpr int kMostColumns = 32;

// A tile of columns. Threads form groups, with one thread for each column.
template <class Key>
struct Tile {
  Key* keys;  // of row i and column k: keys[i * columns + k]
  int rows;
  int columns;
  int column;  // of this thread
  int group;   // of this thread
  int groups;
};

// Adds the groups' numbers for a column, in the order of the groups.
template <class Key, class X>
__device__ X add_groups(const Tile<Key>& tile, X mine, X* scratch) {
  __syncthreads();
  scratch[tile.group * tile.columns + tile.column] = mine;
  __syncthreads();
  X sum = 0;
  for (int g = 0; g < tile.groups; ++g) sum += scratch[g * tile.columns + tile.column];
  return sum;
}

// The key at a position of the sorted column, and how many keys are below it.
template <class Key>
__device__ Key key_at(const Tile<Key>& tile, int position, int* scratch, int& below) {
  Key found = 0;
  int left = position;
  for (int bit = static_cast<int>(sizeof(Key)) * 8 - 1; bit >= 0; --bit) {
    // How many keys begin like found and have a 0 at this bit.
    int zeros = 0;
    for (int i = tile.group; i < tile.rows; i += tile.groups) {
      zeros += (tile.keys[i * tile.columns + tile.column] ^ found) >> bit == 0 ? 1 : 0;
    }
    zeros = add_groups(tile, zeros, scratch);
    if (left >= zeros) {
      left -= zeros;
      found |= Key{1} << bit;
    }
  }
  below = position - left;
  return found;
}

template <class T, class Key>
__global__ void __launch_bounds__(kTileThreads)
    select_kernel(const __grid_constant__ RowTable<T> rows, int count, MixTable mix, int mixed,
                  int columns, int first, int last, T* out, std::size_t length, Seen<T> seen_bits) {
  extern __shared__ unsigned long long shared[];
  Bits<T>* bits = seen_bits.bits;
  __shared__ double scratch[kTileThreads];
  auto* counts = reinterpret_cast<int*>(scratch);
  Tile<Key> tile;
  tile.keys = reinterpret_cast<Key*>(shared);
  tile.rows = mixed;
  tile.columns = columns;
  tile.groups = kTileThreads / columns;
  tile.column = threadIdx.x % columns;
  tile.group = threadIdx.x / columns;
  for (std::size_t from = static_cast<std::size_t>(blockIdx.x) * columns; from < length;
       from += static_cast<std::size_t>(gridDim.x) * columns) {
    const std::size_t k = from + tile.column;
    const bool inside = k < length;
    __syncthreads();
    for (int i = tile.group; i < mixed; i += tile.groups) {
      T x = 0;
      if (inside && mix.ends == nullptr) {
        x = rows[i][k];
        const Bits<T> seen = abs_bits(x);
        if (bits[i] < seen) atomicMax(&bits[i], seen);
      } else if (inside) {
        double sum = 0;
        for (int t = i == 0 ? 0 : mix.ends[i - 1]; t < mix.ends[i]; ++t) {
          const T term = rows[mix.row[t]][k];
          const Bits<T> seen = abs_bits(term);
          if (bits[mix.row[t]] < seen) atomicMax(&bits[mix.row[t]], seen);
          sum += mix.weight[t] * static_cast<double>(term);
        }
        x = static_cast<T>(sum);
      }
      tile.keys[i * columns + tile.column] = key_of(x);
    }
    __syncthreads();
    int below_low = 0;
    int below_high = 0;
    const Key low = key_at(tile, first, counts, below_low);
    const Key high = key_at(tile, last - 1, counts, below_high);
    double between = 0;
    int at_low = 0;
    for (int i = tile.group; i < mixed; i += tile.groups) {
      const Key key = tile.keys[i * columns + tile.column];
      if (key > low && key < high) between += static_cast<double>(value_of(key));
      at_low += key == low ? 1 : 0;
    }
    between = add_groups(tile, between, scratch);
    at_low = add_groups(tile, at_low, counts);
    if (tile.group == 0 && inside) {
      double sum = static_cast<double>(last - first) * static_cast<double>(value_of(low));
      if (low != high) {
        sum = between +
              static_cast<double>(below_low + at_low - first) * static_cast<double>(value_of(low)) +
              static_cast<double>(last - below_high) * static_cast<double>(value_of(high));
      }
      sum += 0.0;  // a product may be -0, a sum of zeros never is
      const T mean = static_cast<T>(sum / static_cast<double>(last - first));
      out[k] = mean;
      if (bits[count] < abs_bits(mean)) atomicMax(&bits[count], abs_bits(mean));
    }
  }
  publish_bits(bits, count + 1, seen_bits.host, seen_bits.ended);
}

// --- Launches

template <class T>
struct Order {
  const Device::Turn& turn;
  const KernelRows<T>& rows;
  int count;
  int first;
  int last;
  std::span<T> out;
  bool vectors;  // rows are aligned to sixteen bytes
};

template <class T, int N, int V>
void launch_network(const Order<T>& order) {
  const std::size_t tiles = (order.out.size() + kThreads - 1) / kThreads;
  const std::size_t shared = static_cast<std::size_t>(order.count) * kThreads * sizeof(T);
  const auto kernel = network_kernel<T, N, V>;
  allow_shared(kernel, shared);
  kernel<<<resident_blocks(order.turn, kernel, kThreads, shared, tiles), kThreads, shared,
           order.turn.stream()>>>(order.rows.table(), order.count, order.first, order.last,
                                  order.out.data(), order.out.size(), Seen<T>(order.turn));
}

template <class T, int N>
void launch_network(const Order<T>& order) {
  if (order.vectors) {
    launch_network<T, N, kVector<T>>(order);
  } else {
    launch_network<T, N, 1>(order);
  }
}

// False where the rows are too many for registers.
template <class T>
bool try_network(const Order<T>& order) {
  if (order.count <= 16) {
    launch_network<T, 16>(order);
  } else if (order.count <= 32) {
    launch_network<T, 32>(order);
  } else if (order.count <= 64) {
    launch_network<T, 64>(order);
  } else if (sizeof(T) == 4 && order.count <= 128) {
    if constexpr (sizeof(T) == 4) launch_network<T, 128>(order);
  } else {
    return false;
  }
  return true;
}

template <class T>
void launch_select(const Order<T>& order, const MixTable& mix, int mixed) {
  using Key = Bits<T>;
  constexpr std::size_t kMostShared = std::size_t{200} << 10;
  int columns = kMostColumns;
  while (columns > 1 && static_cast<std::size_t>(mixed) * columns * sizeof(Key) > kMostShared) {
    columns /= 2;
  }
  const std::size_t shared = static_cast<std::size_t>(mixed) * columns * sizeof(Key);
  const auto kernel = select_kernel<T, Key>;
  allow_shared(kernel, shared);
  const std::size_t tiles = (order.out.size() + columns - 1) / columns;
  kernel<<<resident_blocks(order.turn, kernel, kTileThreads, shared, tiles), kTileThreads, shared,
           order.turn.stream()>>>(order.rows.table(), order.count, mix, mixed, columns, order.first,
                                  order.last, order.out.data(), order.out.size(),
                                  Seen<T>(order.turn));
}

// The terms of a mix in the GPU's memory, without those of weight 0.
class KernelMix {
 public:
  KernelMix(const Device::Turn& turn, const Mix& mix)
      : KernelMix(turn, [&] {
          Terms terms;
          for (std::size_t i = 0; i < mix.rows(); ++i) {
            for (const Mix::Term& term : mix.terms(i)) {
              if (term.weight == 0) continue;
              terms.row.push_back(static_cast<int>(term.row));
              terms.weight.push_back(term.weight);
            }
            terms.ends.push_back(static_cast<int>(terms.row.size()));
          }
          return terms;
        }()) {}

  MixTable table() const { return {ends_.as<int>(), row_.as<int>(), weight_.as<double>()}; }

 private:
  struct Terms {
    std::vector<int> ends;
    std::vector<int> row;
    std::vector<double> weight;
  };
  KernelMix(const Device::Turn& turn, Terms terms)
      : terms_(std::move(terms)),
        ends_(terms_.ends.size() * sizeof(int), turn.stream()),
        row_(terms_.row.size() * sizeof(int), turn.stream()),
        weight_(terms_.weight.size() * sizeof(double), turn.stream()) {
    turn.upload(ends_.as<void>(), terms_.ends.data(), terms_.ends.size() * sizeof(int));
    turn.upload(row_.as<void>(), terms_.row.data(), terms_.row.size() * sizeof(int));
    turn.upload(weight_.as<void>(), terms_.weight.data(), terms_.weight.size() * sizeof(double));
  }

  Terms terms_;
  Buffer ends_;
  Buffer row_;
  Buffer weight_;
};

template <class T>
OutputPass run(const Device& device, const UpdateView& view, const Mix* mix, std::size_t first,
               std::size_t last, std::span<T> out) {
  const std::vector<const T*> rows = row_pointers<T>(view);
  if (out.empty()) return empty_pass<T>(view.rows());
  const Device::Turn turn(device);
  turn.admit(rows.size());
  const KernelRows<T> kernel_rows(turn, rows);
  const Order<T> order{turn,
                       kernel_rows,
                       static_cast<int>(rows.size()),
                       static_cast<int>(first),
                       static_cast<int>(last),
                       out,
                       aligned(rows)};
  std::optional<KernelMix> kernel_mix;
  if (mix != nullptr) {
    kernel_mix.emplace(turn, *mix);
    launch_select(order, kernel_mix->table(), static_cast<int>(mix->rows()));
  } else if (!try_network(order)) {
    launch_select(order, MixTable{nullptr, nullptr, nullptr}, order.count);
  }
  check(cudaGetLastError(), "sort coordinates");
  return wait_for_output<T>(turn, all_rows(rows.size()), view.rows());
}

}  // namespace

OutputPass order_mean(const Device& device, const UpdateView& rows, const Mix* mix,
                      std::size_t first, std::size_t last, MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(device, rows, mix, first, last, out.as<T>());
  });
}

}  // namespace boba::cuda
