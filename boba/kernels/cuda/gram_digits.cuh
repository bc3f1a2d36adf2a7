// The Gram matrix of float32 rows on the tensor cores for integers; gram.cu launches these kernels.
//
// In each step, a row has one power of two, chosen so that its largest number about the origin
// becomes an integer just within 22 bits. Each number is rounded to such an integer, which consists
// of three digits of eight bits: x = 2^e (65536 high + 256 mid + low). Products of digits and their
// sums over the step are exact. Of the nine products of a pair, the three smallest are left out. So
// each number is rounded once, to nearest, and so are the sums in double. Rows may have any numbers
// of float: rows of 1e-40 and of 1e38 may be side by side.
#pragma once

#include "boba/kernels/cuda/gram_digit_loader.cuh"

namespace boba::cuda {
namespace {

// Loads four squares of eight rows by sixteen digits. Lane 8 m + r gives the address of row r of
// square m.
__device__ inline void load_matrices(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}

// sums += a * b', sixteen rows by eight, over 32 columns.
__device__ inline void multiply_digits(int (&sums)[4], const unsigned (&a)[4], unsigned b0,
                                       unsigned b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The digits of a block in one step, and the powers of two of its rows.
template <int Width>
struct DigitTile {
  const unsigned char* digits;
  const double* powers;
};

// See add_product.
constexpr double kIntegerShift = 0x1.8p52 + 0x1p31;

// The digits of sixteen rows and 64 columns as the left side of a product, in two halves.
struct LeftDigits {
  unsigned x[3][2][4];

  template <int Width>
  __device__ void load(const DigitTile<Width>& tile, int strip, int column) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = strip * 16 + lane / 8 % 2 * 8 + lane % 8;
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile.digits));
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int place = digit_place<Width>(row, column / 16 + half * 2 + lane / 16);
#pragma unroll
      for (int digit = 0; digit < 3; ++digit) {
        load_matrices(x[digit][half],
                      at + static_cast<unsigned>(place + digit * kDigitBytes<Width>));
      }
    }
  }
};

// Factors and shifts for the products of a lane's two rows.
struct LeftPowers {
  double power[2];
  double shift[2];

  __device__ LeftPowers(const double* powers, int strip) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      // 2^16 is the weight of the integer that add_product forms.
      power[r] = powers[strip * 16 + r * 8 + lane / 4] * 0x1p16;
      shift[r] = power[r] * -kIntegerShift;
    }
  }
};

// sum += (65536 high + 256 mid + low) * the powers of row and column.
__device__ inline void add_product(double& sum, int high, int mid, int low, const LeftPowers& left,
                                   int row, double column) {
  // The integer becomes the last bits of kIntegerShift + itself.
  const unsigned rest = (static_cast<unsigned>(mid) * 256 + static_cast<unsigned>(low)) ^ 1U << 31;
  const double shifted = __longlong_as_double(static_cast<long long>(high) * 65536 +
                                              (0x43380000LL << 32 | static_cast<long long>(rest)));
  sum = fma(fma(shifted, left.power[row], left.shift[row]), column, sum);
}

// sums += the products of sixteen rows with the rows 8 j and on of a tile.
__device__ inline void multiply_piece(double (&sums)[4], const LeftDigits& a,
                                      const LeftPowers& powers,
                                      const DigitTile<kAboveColumns>& tile, int j) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile.digits)) +
                  static_cast<unsigned>(digit_place<kAboveColumns>(j * 8 + lane % 8, lane / 8));
  unsigned b[3][4];
#pragma unroll
  for (unsigned digit = 0; digit < 3; ++digit) {
    load_matrices(b[digit], at + digit * kDigitBytes<kAboveColumns>);
  }
  int high[4] = {};
  int mid[4] = {};
  int low[4] = {};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int k = half * 2;
    multiply_digits(high, a.x[0][half], b[0][k], b[0][k + 1]);
    multiply_digits(mid, a.x[0][half], b[1][k], b[1][k + 1]);
    multiply_digits(low, a.x[0][half], b[2][k], b[2][k + 1]);
    multiply_digits(mid, a.x[1][half], b[0][k], b[0][k + 1]);
    multiply_digits(low, a.x[1][half], b[1][k], b[1][k + 1]);
    multiply_digits(low, a.x[2][half], b[0][k], b[0][k + 1]);
  }
  const auto column = *reinterpret_cast<const double2*>(tile.powers + j * 8 + lane % 4 * 2);
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    add_product(sums[v], high[v], mid[v], low[v], powers, v / 2, v % 2 == 0 ? column.x : column.y);
  }
}

// A descriptor of digits for wgmma. Its first word says where they begin. Its second word says the
// layout: rows of 128 bytes, groups of eight rows 1024 bytes apart, permuted as digit_place does.
constexpr unsigned kDigitsLaidOut = 0x40000040U;
__device__ inline unsigned digits_at(const unsigned char* digits, int row) {
  static_assert(kDiagonalColumns == 128);
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(digits)) +
                  static_cast<unsigned>(row * kDiagonalColumns);
  return (at & 0x3FFFFU) >> 4 | 1U << 16;
}

// Starts sums = a * b' or sums += a * b', 64 rows by 32, over 32 columns.
__device__ inline void multiply_group(int (&sums)[16], const unsigned (&a)[4], unsigned b,
                                      bool add) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile(
      "{ .reg .pred add; .reg .b64 place; setp.ne.s32 add, %22, 0; mov.b64 place, {%20, %21};\n"
      "wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19}, place, add; }"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),
        "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]),
        "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(kDigitsLaidOut),
        "r"(static_cast<int>(add)));
#endif
}

// Sums of products by the weight of their digits, of sixteen rows of a warp by 32.
struct GroupSums {
  int high[16];
  int mid[16];
  int low[16];

  // Adds the products over 64 columns. first: sets the sums instead.
  __device__ void multiply(const LeftDigits& a, unsigned b, bool first) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr unsigned kNext = unsigned{kDigitBytes<kDiagonalColumns>} / 16;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool add = half != 0 || !first;
      const unsigned at = b + static_cast<unsigned>(half * 2);
      multiply_group(high, a.x[0][half], at, add);
      multiply_group(mid, a.x[0][half], at + kNext, add);
      multiply_group(low, a.x[0][half], at + 2 * kNext, add);
      multiply_group(mid, a.x[1][half], at, true);
      multiply_group(low, a.x[1][half], at + kNext, true);
      multiply_group(low, a.x[2][half], at, true);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    // The compiler must not read the sums before this point.
#pragma unroll
    for (int i = 0; i < 16; ++i) asm volatile("" : "+r"(high[i]), "+r"(mid[i]), "+r"(low[i]));
#endif
  }
};

// On the diagonal three squares of 64 rows are needed, one for each group of four warps. A warp has
// sixteen of the rows.
struct DiagonalShare {
  int strip;
  int column;

  __device__ explicit DiagonalShare(int warp)
      : strip((warp < 8 ? 0 : 4) + warp % 4), column(warp < 4 ? 0 : 64) {}
};

__device__ inline void multiply_share(const DigitTile<kDiagonalColumns>& tile,
                                      const DiagonalShare& share, double (&sums)[8][4]) {
  const LeftPowers powers(tile.powers, share.strip);
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int first = share.column + half * 32;
    GroupSums group;
#pragma unroll
    for (int column = 0; column < kDiagonalColumns; column += 64) {
      LeftDigits left;
      left.load(tile, share.strip, column);
      group.multiply(left, digits_at(tile.digits, first) + static_cast<unsigned>(column / 16),
                     column == 0);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const auto column =
          *reinterpret_cast<const double2*>(tile.powers + first + j * 8 + lane % 4 * 2);
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const int i = j * 4 + v;
        add_product(sums[half * 4 + j][v], group.high[i], group.mid[i], group.low[i], powers, v / 2,
                    v % 2 == 0 ? column.x : column.y);
      }
    }
  }
}

template <int Steps>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Steps) : "memory");
}

template <int Width>
__device__ inline int digit_steps(const Columns& columns) {
  return static_cast<int>((columns.end - min(columns.first, columns.end) + Width - 1) / Width);
}

// The digits of the diagonal begin at a multiple of this.
constexpr std::size_t kDigitAlign = 1024;
template <bool Centred>
constexpr std::size_t kDiagonalShared = kDigitAlign + kAllDigits<kDiagonalColumns> +
                                        kStages* kRawElements<Centred, kDiagonalColumns> *
                                            sizeof(float);
template <bool Centred>
constexpr std::size_t kAboveShared = 2 * (kAllDigits<kAboveColumns> +
                                          kStages * kRawElements<Centred, kAboveColumns> *
                                              sizeof(float));

// One slice of a tile on the diagonal.
template <bool Centred>
__global__ void __launch_bounds__(kDiagonalDigitThreads, 1)
    diagonal_digits(const __grid_constant__ GramInput<float> in,
                    const __grid_constant__ TileSet tiles, double* partial, unsigned* bits) {
  extern __shared__ uint4 digit_memory[];
  __shared__ const float* lines[kRawRows<Centred>];
  __shared__ double2 powers[kBlockRows / 2];
  const Columns columns = columns_of(in);
  auto* digits = reinterpret_cast<unsigned char*>(digit_memory);
  digits += (kDigitAlign - __cvta_generic_to_shared(digits) % kDigitAlign) % kDigitAlign;
  DigitLoader<kDiagonalColumns, Centred, true, kDiagonalDigitThreads> loader(
      in, columns, tile_of(tiles).x, lines,
      reinterpret_cast<float*>(digits + kAllDigits<kDiagonalColumns>));
  __syncthreads();
  const DiagonalShare share(static_cast<int>(threadIdx.x) / 32);
  double sums[8][4] = {};
  loader.copy(0);
  loader.copy(1);
  const int steps = digit_steps<kDiagonalColumns>(columns);
  for (int step = 0; step < steps; ++step) {
    wait_for_copies<1>();
    __syncthreads();
    loader.cut(step, digits, &powers[0].x);
    __syncthreads();
    loader.copy(step + kStages);
    multiply_share({digits, &powers[0].x}, share, sums);
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    store_sums(sums[j], share.strip, share.column / 8 + j, partial_of(partial));
  }
  loader.raise_bits(bits);
}

// One slice of a tile above the diagonal; a warp has sixteen rows and all columns.
template <bool Centred>
__global__ void __launch_bounds__(kAboveDigitThreads, 1)
    above_digits(const __grid_constant__ GramInput<float> in, const __grid_constant__ TileSet tiles,
                 double* partial, unsigned* /*the diagonal's*/) {
  extern __shared__ uint4 digit_memory[];
  __shared__ const float* lines[2][kRawRows<Centred>];
  __shared__ double2 powers[2][kBlockRows / 2];
  const Columns columns = columns_of(in);
  const int2 tile = tile_of(tiles);
  constexpr int kBytes = kAllDigits<kAboveColumns>;
  auto* digits = reinterpret_cast<unsigned char*>(digit_memory);
  float* raw = reinterpret_cast<float*>(digits + 2 * kBytes);
  using Loader = DigitLoader<kAboveColumns, Centred, false, kAboveDigitThreads>;
  Loader loader_a(in, columns, tile.x, lines[0], raw);
  Loader loader_b(in, columns, tile.y, lines[1],
                  raw + kStages * kRawElements<Centred, kAboveColumns>);
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const auto copy = [&](int step) {
    loader_a.copy(step);
    loader_b.copy(step);
  };
  double sums[16][4] = {};
  copy(0);
  copy(1);
  const int steps = digit_steps<kAboveColumns>(columns);
  for (int step = 0; step < steps; ++step) {
    // Two groups of copies for each step.
    wait_for_copies<2>();
    __syncthreads();
    loader_a.cut(step, digits, &powers[0][0].x);
    loader_b.cut(step, digits + kBytes, &powers[1][0].x);
    __syncthreads();
    copy(step + kStages);
    LeftDigits left;
    left.load(DigitTile<kAboveColumns>{digits, &powers[0][0].x}, warp, 0);
    const LeftPowers left_powers(&powers[0][0].x, warp);
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      multiply_piece(sums[j], left, left_powers, {digits + kBytes, &powers[1][0].x}, j);
    }
  }
#pragma unroll
  for (int j = 0; j < 16; ++j) store_sums(sums[j], warp, j, partial_of(partial));
}

}  // namespace
}  // namespace boba::cuda
