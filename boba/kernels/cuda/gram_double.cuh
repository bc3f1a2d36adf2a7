// The Gram matrix in double; gram.cu launches these kernels.
//
// A thread block takes 128 bytes of each row at a time and widens them to double. On the diagonal
// it multiplies only the upper half.
#pragma once

#include <type_traits>

#include "boba/kernels/cuda/gram_tiles.cuh"

namespace boba::cuda {
namespace {

template <class T>
constexpr int kColumns = 128 / sizeof(T);  // per step
constexpr int kSlices = 264;
template <class T>
constexpr std::size_t kTileElements = static_cast<std::size_t>(kBlockRows) * kColumns<T>;

// Threads of a thread block. A tile on the diagonal has 72 pieces of sixteen rows by eight in its
// upper half, eighteen for each warp. A tile above it has 128, sixteen for each warp.
constexpr int kDiagonalThreads = 128;
constexpr int kAboveThreads = 256;

// Where two adjacent columns of a tile begin. A tile has rows of 32 (or 16) columns. In odd rows
// the halves of each sixteen are exchanged, so that lanes that read together use different banks.
template <class T>
__device__ inline int place(int row, int column) {
  return row * kColumns<T> + (column ^ row % 2 * 8);
}

// The largest absolute value so far. For float, NaN shows in the row's own product instead.
struct LargestFloat {
  float x = 0;
  __device__ void see(float a, float b) { x = fmaxf(x, fmaxf(fabsf(a), fabsf(b))); }
  __device__ unsigned int bits() const { return abs_bits(x); }
};
struct LargestDouble {
  unsigned long long x = 0;
  __device__ void see(double a, double b) { x = max(x, max(abs_bits(a), abs_bits(b))); }
  __device__ unsigned long long bits() const { return x; }
};
template <class T>
using Largest = std::conditional_t<sizeof(T) == 4, LargestFloat, LargestDouble>;

// Brings the rows of a block to shared memory: copies them two steps ahead and widens them one step
// ahead.
template <class T, int Threads, bool Centred>
class WideningLoader {
 public:
  // raw: two tiles of T.
  __device__ WideningLoader(const GramInput<T>& in, const Columns& columns, int block,
                            const T** lines, T* raw)
      : in_(in), columns_(columns), first_row_(block * kBlockRows), lines_(lines), raw_(raw) {
    // The first row stands in for rows beyond the last; nobody reads their products.
    for (int r = static_cast<int>(threadIdx.x); r < kBlockRows; r += Threads) {
      const int row = first_row_ + r;
      lines_[r] = row >= in.count                                          ? in.rows[0]
                  : Centred && in.origin != nullptr && row == in.count - 1 ? in.origin
                                                                           : in.rows[row];
    }
  }

  // Starts the copies of a step. Called once for each step, even beyond the last.
  __device__ void copy(int step) {
    const std::size_t k = columns_.first + static_cast<std::size_t>(step) * kColumns<T>;
    if (k < columns_.end) {
      T* slot = raw_ + step % 2 * kTileElements<T>;
      if (k + kColumns < T >> columns_.end) {
        copy_part(k, slot);
      } else if (in_.vectors) {
        copy_whole<kVector<T>>(k, slot);
      } else {
        copy_whole<1>(k, slot);
      }
    }
    asm volatile("cp.async.commit_group;");
  }

  // Widens a step whose copies all threads have seen.
  __device__ void widen(int step, double* tile) {
    const std::size_t k = columns_.first + static_cast<std::size_t>(step) * kColumns<T>;
    if (k >= columns_.end) return;
    const T* slot = raw_ + step % 2 * kTileElements<T>;
    const int column = static_cast<int>(threadIdx.x) % kPairs * 2;
    double origin[2] = {};
    if (Centred && in_.origin != nullptr) {
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        if (k + column + v < columns_.end) {
          origin[v] = static_cast<double>(in_.origin[k + column + v]);
        }
      }
    }
    // A thread's rows are all even or all odd.
    const T* from = slot + row(0) * kColumns<T> + column;
    double* to = tile + place<T>(row(0), column);
#pragma unroll
    for (int p = 0; p < kRows; ++p) {
      const T x = from[p * kRowStep * kColumns<T>];
      const T y = from[p * kRowStep * kColumns<T> + 1];
      largest_[p].see(x, y);
      double2 wide = make_double2(static_cast<double>(x), static_cast<double>(y));
      if (Centred && !(in_.origin != nullptr && first_row_ + row(p) == in_.count - 1)) {
        wide.x -= origin[0];
        wide.y -= origin[1];
      }
      *reinterpret_cast<double2*>(to + p * kRowStep * kColumns<T>) = wide;
    }
  }

  __device__ void raise_bits(Bits<T>* bits) const {
#pragma unroll
    for (int p = 0; p < kRows; ++p) {
      Bits<T> seen = largest_[p].bits();
#pragma unroll
      for (int step = kPairs / 2; step > 0; step /= 2) {
        seen = max(seen, __shfl_xor_sync(~0U, seen, step));
      }
      const int r = first_row_ + row(p);
      if (threadIdx.x % kPairs == 0 && r < in_.count && bits[r] < seen) atomicMax(&bits[r], seen);
    }
  }

 private:
  static constexpr int kPairs = kColumns<T> / 2;               // of columns, a lane each
  static constexpr int kRows = kBlockRows * kPairs / Threads;  // that a thread widens

  static constexpr int kRowStep = Threads / kPairs;  // from one of them to the next
  static_assert(kRowStep % 2 == 0);

  __device__ static int row(int p) { return p * kRowStep + static_cast<int>(threadIdx.x) / kPairs; }

  template <int V>
  __device__ void copy_whole(std::size_t k, T* slot) const {
    constexpr int kPieces = kColumns<T> / V;  // of a row
    const int column = static_cast<int>(threadIdx.x) % kPieces * V;
    const int first = static_cast<int>(threadIdx.x) / kPieces;
#pragma unroll
    for (int r = 0; r < kBlockRows; r += Threads / kPieces) {
      copy_ahead<V * sizeof(T)>(slot + (first + r) * kColumns<T> + column,
                                lines_[first + r] + k + column);
    }
  }

  __device__ void copy_part(std::size_t k, T* slot) const {
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < kBlockRows * kColumns<T>; at += Threads) {
      const std::size_t column = k + at % kColumns<T>;
      slot[at] = column < columns_.end ? lines_[at / kColumns<T>][column] : T{0};
    }
  }

  const GramInput<T>& in_;
  Columns columns_;
  int first_row_;
  const T** lines_;
  T* raw_;
  Largest<T> largest_[kRows];
};

// Eight rows and eight columns as the tensor cores take them: lane 4 g + t has row g and columns
// 2 t and 2 t + 1. The order of the columns does not matter as long as both sides agree.
struct Fragment {
  double x[2];
};

// Where a lane's numbers of the tile's first fragment are.
template <class T>
__device__ inline const double* lane_of(const double* tile, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return tile + place<T>(lane / 4, column + lane % 4 * 2);
}

// The fragment of the rows from 8 j on.
template <class T>
__device__ inline Fragment load_fragment(const double* lane, int j) {
  const double2 x = *reinterpret_cast<const double2*>(lane + j * 8 * kColumns<T>);
  return {{x.x, x.y}};
}

// Sixteen rows in the order that the tensor cores want on the left side. The exclusive or with a
// zero that the compiler does not know keeps them in this order; otherwise the compiler sorts them
// again for every multiplication.
struct Rows16 {
  double x[4];
};

template <class T>
__device__ inline Rows16 load_rows(const double* lane, int j, long long zero) {
  const Fragment low = load_fragment<T>(lane, j);
  const Fragment high = load_fragment<T>(lane, j + 1);
  const auto keep = [zero](double x) {
    return __longlong_as_double(__double_as_longlong(x) ^ zero);
  };
  return {{keep(low.x[0]), keep(high.x[0]), keep(low.x[1]), keep(high.x[1])}};
}

// sums += a * b', sixteen rows by eight, over eight columns.
__device__ inline void multiply(double (&sums)[4], const Rows16& a, const Fragment& b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(a.x[0]), "d"(a.x[1]), "d"(a.x[2]), "d"(a.x[3]), "d"(b.x[0]), "d"(b.x[1]));
}

// On the diagonal, warp p has the pieces of rows p and 7 - p from the diagonal on: 16 - 2 p and
// 2 p + 2 of them. The columns of the second are among those of the first.
template <class T, int P>
__device__ inline void multiply_diagonal(const double* tile, long long zero,
                                         double (&sums)[18][4]) {
  constexpr int kFirst = 2 * P;
  constexpr int kSecond = 14 - 2 * P;
#pragma unroll
  for (int c = 0; c < kColumns<T>; c += 8) {
    const double* lane = lane_of<T>(tile, c);
    const Rows16 first = load_rows<T>(lane, kFirst, zero);
    const Rows16 second = load_rows<T>(lane, kSecond, zero);
#pragma unroll
    for (int j = kFirst; j < 16; ++j) {
      const Fragment b = load_fragment<T>(lane, j);
      multiply(sums[j - kFirst], first, b);
      if (j >= kSecond) multiply(sums[16 - kFirst + j - kSecond], second, b);
    }
  }
}

template <int P>
__device__ inline void store_diagonal(const double (&sums)[18][4], double* to) {
#pragma unroll
  for (int j = 2 * P; j < 16; ++j) {
    store_sums(sums[j - 2 * P], P, j, to);
    if (j >= 14 - 2 * P) store_sums(sums[2 + j], 7 - P, j, to);
  }
}

// Above the diagonal, a warp has sixteen rows and all columns.
template <class T>
__device__ inline void multiply_above(const double* a_tile, const double* b_tile, int warp,
                                      long long zero, double (&sums)[16][4]) {
#pragma unroll 1
  for (int c = 0; c < kColumns<T>; c += 8) {
    const Rows16 a = load_rows<T>(lane_of<T>(a_tile, c), 2 * warp, zero);
    const double* lane = lane_of<T>(b_tile, c);
#pragma unroll
    for (int j = 0; j < 16; ++j) multiply(sums[j], a, load_fragment<T>(lane, j));
  }
}

// Does all steps of a slice: body(tile number) multiplies while the next step is widened and the
// one after it is copied. All threads see the copies of a step one barrier before they are widened.
template <class T, class Copy, class Widen, class Body>
__device__ inline void each_step(const Columns& columns, const Copy& copy, const Widen& widen,
                                 const Body& body) {
  const auto steps = static_cast<int>(
      (columns.end - min(columns.first, columns.end) + kColumns<T> - 1) / kColumns<T>);
  copy(0);
  copy(1);
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  widen(0);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    // The slot of step + 2 was widened one barrier ago.
    copy(step + 2);
    widen(step + 1);
    body(step % 2);
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
  }
}

// One slice of a tile on the diagonal.
template <class T, bool Centred>
__global__ void __launch_bounds__(kDiagonalThreads, 2)
    diagonal_kernel(const __grid_constant__ GramInput<T> in, const __grid_constant__ TileSet tiles,
                    double* partial, Bits<T>* bits) {
  extern __shared__ double shared[];
  __shared__ const T* lines[kBlockRows];
  const Columns columns = columns_of(in);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  WideningLoader<T, kDiagonalThreads, Centred> loader(
      in, columns, tile_of(tiles).x, lines, reinterpret_cast<T*>(shared + 2 * kTileElements<T>));
  __syncthreads();
  double sums[18][4] = {};
  each_step<T>(
      columns, [&](int step) { loader.copy(step); },
      [&](int step) { loader.widen(step, shared + step % 2 * kTileElements<T>); },
      [&](int buffer) {
        const double* tile = shared + buffer * kTileElements<T>;
        if (warp == 0) multiply_diagonal<T, 0>(tile, in.zero, sums);
        if (warp == 1) multiply_diagonal<T, 1>(tile, in.zero, sums);
        if (warp == 2) multiply_diagonal<T, 2>(tile, in.zero, sums);
        if (warp == 3) multiply_diagonal<T, 3>(tile, in.zero, sums);
      });
  double* to = partial_of(partial);
  if (warp == 0) store_diagonal<0>(sums, to);
  if (warp == 1) store_diagonal<1>(sums, to);
  if (warp == 2) store_diagonal<2>(sums, to);
  if (warp == 3) store_diagonal<3>(sums, to);
  loader.raise_bits(bits);
}

// One slice of a tile above the diagonal.
template <class T, bool Centred>
__global__ void __launch_bounds__(kAboveThreads, 1)
    above_kernel(const __grid_constant__ GramInput<T> in, const __grid_constant__ TileSet tiles,
                 double* partial, Bits<T>* bits) {
  extern __shared__ double shared[];
  __shared__ const T* lines[2][kBlockRows];
  const Columns columns = columns_of(in);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int2 pair = tile_of(tiles);
  T* raw = reinterpret_cast<T*>(shared + 4 * kTileElements<T>);
  using Loader = WideningLoader<T, kAboveThreads, Centred>;
  Loader loader_a(in, columns, pair.x, lines[0], raw);
  Loader loader_b(in, columns, pair.y, lines[1], raw + 2 * kTileElements<T>);
  __syncthreads();
  double sums[16][4] = {};
  each_step<T>(
      columns,
      [&](int step) {
        loader_a.copy(step);
        loader_b.copy(step);
      },
      [&](int step) {
        double* tile = shared + step % 2 * 2 * kTileElements<T>;
        loader_a.widen(step, tile);
        loader_b.widen(step, tile + kTileElements<T>);
      },
      [&](int buffer) {
        const double* tile = shared + buffer * 2 * kTileElements<T>;
        multiply_above<T>(tile, tile + kTileElements<T>, warp, in.zero, sums);
      });
#pragma unroll
  for (int j = 0; j < 16; ++j) store_sums(sums[j], warp, j, partial_of(partial));
  loader_a.raise_bits(bits);
  loader_b.raise_bits(bits);
}

}  // namespace
}  // namespace boba::cuda
