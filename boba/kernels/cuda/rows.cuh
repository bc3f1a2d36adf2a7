// Rows on the GPU, and the largest absolute values that passes see in them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "boba/kernels/cuda/device.h"

namespace boba::cuda {

// Largest absolute values are tracked as the bits of |x|: they order like |x|, and the bits of
// infinity and NaN exceed those of every finite number.
template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = unsigned int;
  static constexpr type kInfinity = 0x7f800000U;
};
template <>
struct BitsOf<double> {
  using type = unsigned long long;
  static constexpr type kInfinity = 0x7ff0000000000000ULL;
};
template <class T>
using Bits = typename BitsOf<T>::type;

__device__ inline unsigned int abs_bits(float x) { return __float_as_uint(x) & 0x7fffffffU; }
__device__ inline unsigned long long abs_bits(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x)) & 0x7fffffffffffffffULL;
}

// The largest over the lanes of a warp.
__device__ inline unsigned int warp_max(unsigned int x) { return __reduce_max_sync(~0U, x); }
__device__ inline unsigned long long warp_max(unsigned long long x) {
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(~0U, x, step);
    x = other > x ? other : x;
  }
  return x;
}

// The last thread block to end copies the bits to the host, and clears them for the next pass. All
// threads of all blocks must call it.
template <class B>
__device__ inline void publish_bits(B* bits, int count, B* host, unsigned* ended) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ended, 1U) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    host[i] = atomicExch(&bits[i], B{0});
  }
  if (threadIdx.x == 0) *ended = 0;
}

// Where a pass keeps its bits, and where it publishes them.
template <class T>
struct Seen {
  Bits<T>* bits;
  Bits<T>* host;
  unsigned* ended;

  explicit Seen(const Device::Turn& turn)
      : bits(static_cast<Bits<T>*>(turn.bits())),
        host(static_cast<Bits<T>*>(turn.results())),
        ended(turn.ended()) {}
};

// A table of up to this many items is an argument of the kernel; a longer one is in memory.
constexpr std::size_t kInlineRows = 192;

template <class T>
struct RowTable {
  const T* const* in_memory;  // null: inlined
  const T* inlined[kInlineRows];

  __device__ const T* operator[](std::size_t i) const {
    return in_memory == nullptr ? inlined[i] : in_memory[i];
  }
};

struct WeightTable {
  const double* in_memory;
  double inlined[kInlineRows];

  __device__ double operator[](std::size_t i) const {
    return in_memory == nullptr ? inlined[i] : in_memory[i];
  }
};

// A table for the kernels of one pass, and the memory behind it.
template <class Table, class Item>
class KernelTable {
 public:
  KernelTable(const Device::Turn& turn, const std::vector<Item>& items) : items_(items) {
    table_.in_memory = nullptr;
    if (items.size() <= kInlineRows) {
      for (std::size_t i = 0; i < items.size(); ++i) table_.inlined[i] = items[i];
      return;
    }
    memory_.emplace(items.size() * sizeof(Item), turn.stream());
    turn.upload(memory_->template as<void>(), items_.data(), items.size() * sizeof(Item));
    table_.in_memory = memory_->template as<Item>();
  }
  KernelTable(const KernelTable&) = delete;
  KernelTable& operator=(const KernelTable&) = delete;

  const Table& table() const { return table_; }

 private:
  std::vector<Item> items_;
  std::optional<Buffer> memory_;
  Table table_;
};

template <class T>
using KernelRows = KernelTable<RowTable<T>, const T*>;
using KernelWeights = KernelTable<WeightTable, double>;

template <class T>
std::vector<const T*> row_pointers(const UpdateView& view) {
  std::vector<const T*> rows(view.rows());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = view.row<T>(i);
  return rows;
}

// Whether sixteen bytes at a time may be read from all rows.
template <class T>
bool aligned(const std::vector<const T*>& rows) {
  for (const T* row : rows) {
    if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) return false;
  }
  return true;
}

// Elements of sixteen bytes.
template <class T>
inline constexpr int kVector = 16 / sizeof(T);

template <class T, int V>
struct Piece {
  T x[V];
};

// V elements from column k on. Whole: all are inside the row, and without branches several loads
// can be in flight at once. Otherwise elements beyond the end are 0. REQUIRES: aligned rows if V
// > 1.
template <bool Whole, class T, int V>
__device__ inline Piece<T, V> load_piece(const T* row, std::size_t k, std::size_t length) {
  Piece<T, V> piece;
  if constexpr (!Whole) {
#pragma unroll
    for (int v = 0; v < V; ++v) piece.x[v] = k + v < length ? row[k + v] : T{0};
  } else if constexpr (V == 1) {
    piece.x[0] = __ldcs(row + k);
  } else {
    const auto raw = __ldcs(reinterpret_cast<const float4*>(row + k));
    static_assert(sizeof raw == sizeof piece);
    memcpy(&piece, &raw, sizeof piece);
  }
  return piece;
}

template <bool Whole, class T, int V>
__device__ inline void store_piece(const Piece<T, V>& piece, T* row, std::size_t k,
                                   std::size_t length) {
  if constexpr (Whole && V > 1) {
    float4 raw;
    static_assert(sizeof raw == sizeof piece);
    memcpy(&raw, &piece, sizeof piece);
    *reinterpret_cast<float4*>(row + k) = raw;
  } else {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (Whole || k + v < length) row[k + v] = piece.x[v];
    }
  }
}

// Goes through tiles of columns: calls body(whole, k), where whole is std::true_type if all columns
// of the warp are inside the rows, else std::false_type.
template <int V, int Threads, class Body>
__device__ inline void each_tile(std::size_t length, const Body& body) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * Threads * V;
  const std::size_t lane = threadIdx.x % 32;
  // Whole warps stay together to the end.
  for (std::size_t first =
           (static_cast<std::size_t>(blockIdx.x) * Threads + threadIdx.x / 32 * 32) * V;
       first < length; first += step) {
    if (first + 32 * V <= length) {
      body(std::true_type{}, first + lane * V);
    } else {
      body(std::false_type{}, first + lane * V);
    }
  }
}

template <class T>
RowScan scan_of(Bits<T> bits) {
  if (bits >= BitsOf<T>::kInfinity) return {.finite = false, .max_abs = 0};
  T value;
  static_assert(sizeof value == sizeof bits);
  __builtin_memcpy(&value, &bits, sizeof value);
  return {.finite = true, .max_abs = static_cast<double>(value)};
}

// The result of a pass with an output. bits: of the rows that were read, then of the output.
template <class T>
OutputPass output_pass(std::span<const Bits<T>> bits, std::span<const std::size_t> index,
                       std::size_t rows) {
  OutputPass pass;
  pass.scan.resize(rows);
  for (std::size_t i = 0; i < index.size(); ++i) pass.scan[index[i]] = scan_of<T>(bits[i]);
  pass.finite = bits.back() < BitsOf<T>::kInfinity;
  return pass;
}

// The result of a pass over no columns.
template <class T>
OutputPass empty_pass(std::size_t rows) {
  OutputPass pass;
  pass.scan.resize(rows);
  return pass;
}

// Waits for the pass, and reads the bits that it published.
template <class T>
OutputPass wait_for_output(const Device::Turn& turn, std::span<const std::size_t> index,
                           std::size_t rows) {
  turn.wait();
  return output_pass<T>({static_cast<const Bits<T>*>(turn.results()), index.size() + 1}, index,
                        rows);
}

// 0, 1, ..., rows - 1.
inline std::vector<std::size_t> all_rows(std::size_t rows) {
  std::vector<std::size_t> index(rows);
  for (std::size_t i = 0; i < rows; ++i) index[i] = i;
  return index;
}

// Raises the limit of shared memory. The default also counts what the kernel declares itself, so a
// size just below it may fail.
template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        "hold so many rows at once");
}

// Thread blocks that the GPU runs at once, at most one for each tile.
template <class Kernel>
unsigned resident_blocks(const Device::Turn& turn, Kernel kernel, int threads, std::size_t shared,
                         std::size_t tiles) {
  int per_multiprocessor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, shared),
        "plan a pass");
  const auto most = static_cast<std::size_t>(turn.multiprocessors()) *
                    static_cast<std::size_t>(per_multiprocessor < 1 ? 1 : per_multiprocessor);
  return static_cast<unsigned>(tiles < most ? tiles : most);
}

}  // namespace boba::cuda
