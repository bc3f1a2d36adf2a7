// Brings rows to the tensor cores for integers: copies them to shared memory, then cuts them to
// digits. See gram_digits.cuh.
#pragma once

#include <limits>

#include "boba/kernels/cuda/gram_tiles.cuh"

namespace boba::cuda {
namespace {

// Columns per step, for tiles on the diagonal and for those above it.
constexpr int kDiagonalColumns = 128;
constexpr int kAboveColumns = 64;
constexpr int kDiagonalDigitThreads = 384;
constexpr int kAboveDigitThreads = 256;
constexpr int kDigitSlices = 132;
constexpr int kStages = 2;  // steps that are being copied or used

template <int Width>
constexpr int kDigitBytes = kBlockRows* Width;  // one digit of a step
template <int Width>
constexpr int kAllDigits = 3 * kDigitBytes<Width>;  // high, mid, low

// Rows that are copied for a step. The origin, where there is one, is the last.
template <bool Centred>
constexpr int kRawRows = kBlockRows + (Centred ? 1 : 0);
template <bool Centred, int Width>
constexpr int kRawElements = kRawRows<Centred>* Width;

// Where sixteen digits of a row are. They are permuted so that eight rows in sequence use different
// banks.
template <int Width>
__device__ inline int digit_place(int row, int sixteen) {
  return row * Width + (sixteen ^ row * Width / 128 % (Width / 16)) * 16;
}

// The larger number, or NaN if one of them is NaN.
__device__ inline float larger(float a, float b) {
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
  return most;
}

// The power of two for numbers up to largest: x * scale is within 2^22 / 1.03. power is the high
// word of 1 / scale as a double.
struct Scale {
  float scale;
  int power;
  bool rare;  // float has no such scale; see DigitLoader::repair
};

__device__ inline Scale scale_for(float largest) {
  constexpr float kMargin = 1.03125F;  // room for carries from digit to digit
  const auto exponent = static_cast<int>(__float_as_uint(largest * kMargin) >> 23);
  return {.scale = __uint_as_float(static_cast<unsigned>(275 - exponent) << 23),
          .power = (exponent - 148 + 1023) * (1 << 20),
          .rare = static_cast<unsigned>(exponent - 64) > 190 && largest != 0};
}

// The digits of four numbers, in one word each for the high, middle and low digits.
struct Digits {
  unsigned high;
  unsigned mid;
  unsigned low;
};

__device__ inline Digits digits_of(const float (&x)[4], float scale) {
  // After adding 1.5 * 2^23 a number's last bits are the integer. 0x8080 centres the lower digits
  // about 0, with a carry to the next.
  const float shift = __uint_as_float(0x4B408080U);
  unsigned w[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) w[i] = __float_as_uint(fmaf(x[i], scale, shift));
  const unsigned low = __byte_perm(w[0], w[1], 0x5140);
  const unsigned more = __byte_perm(w[2], w[3], 0x5140);
  const unsigned high =
      __byte_perm(__byte_perm(w[0], w[1], 0x0062), __byte_perm(w[2], w[3], 0x0062), 0x5410);
  return {.high = (high + 0x40404040U) ^ 0x80808080U,
          .mid = __byte_perm(low, more, 0x7632) ^ 0x80808080U,
          .low = __byte_perm(low, more, 0x5410) ^ 0x80808080U};
}

// Copies the rows of a block to shared memory, then cuts them to digits.
template <int Width, bool Centred, bool Scans, int Threads>
class DigitLoader {
 public:
  // lines: kRawRows of them; raw: kStages * kRawElements.
  __device__ DigitLoader(const GramInput<float>& in, const Columns& columns, int block,
                         const float** lines, float* raw)
      : in_(in), columns_(columns), first_row_(block * kBlockRows), lines_(lines), raw_(raw) {
    for (int r = static_cast<int>(threadIdx.x); r < kRawRows<Centred>; r += Threads) {
      const int row = first_row_ + r;
      // The first row stands in for rows beyond the last; nobody reads their products.
      const float* line = row < in.count - (Centred ? 1 : 0) ? in.rows[row] : in.rows[0];
      lines_[r] = Centred && (r == kBlockRows || row == in.count - 1) ? in.origin : line;
    }
  }

  // Starts the copies of a step. Called once for each step, even beyond the last.
  __device__ void copy(int step) const {
    const std::size_t k = first_column(step);
    if (k < columns_.end) {
      float* slot = raw_ + step % kStages * kRawElements<Centred, Width>;
      if (k + Width > columns_.end) {
        copy_part(k, slot);
      } else if (in_.vectors) {
        copy_whole<4>(k, slot);
      } else {
        copy_whole<1>(k, slot);
      }
    }
    asm volatile("cp.async.commit_group;");
  }

  // Cuts a step whose copies all threads have seen. powers: the power of two of each row.
  __device__ void cut(int step, unsigned char* digits, double* powers) {
    if (first_column(step) >= columns_.end) return;
    // Eight lanes share a row; each has four columns of every 32.
    const int lane = static_cast<int>(threadIdx.x) % 8;
    const int first = static_cast<int>(threadIdx.x) / 8;
    const float* from = raw_ + step % kStages * kRawElements<Centred, Width> + lane * 4;
    float origin[kOwn] = {};
    if constexpr (Centred) load(from + kBlockRows * Width, origin);
    from += first * Width;
    float x[kRows][kOwn];
    float largest[kRows];
#pragma unroll
    for (int p = 0; p < kRows; ++p) {
      largest[p] = 0;
      if (!has(p)) continue;
      load(from + p * kRowStep * Width, x[p]);
      if constexpr (Scans) largest_[p] = larger(largest_[p], largest_of(x[p]));
      subtract(p, origin, 1, x[p]);
      largest[p] = largest_of(x[p]);
    }
    over_lanes(largest);
    Scale scale[kRows];
    bool rare = false;
#pragma unroll
    for (int p = 0; p < kRows; ++p) {
      scale[p] = scale_for(largest[p]);
      rare = rare || scale[p].rare;
    }
    if (__any_sync(~0U, rare)) repair(from, origin, largest, x, scale);
    // A lane's columns are adjacent, in every row at the same place.
    unsigned char* to = digits + digit_place<Width>(first, lane * kOwn / 16) + lane * kOwn % 16;
#pragma unroll
    for (int p = 0; p < kRows; ++p) {
      if (!has(p)) continue;
      Piece<unsigned, kOwn / 4> words[3];
#pragma unroll
      for (int i = 0; i < kOwn / 4; ++i) {
        const float(&y)[kOwn] = x[p];
        const Digits four =
            digits_of({y[4 * i], y[4 * i + 1], y[4 * i + 2], y[4 * i + 3]}, scale[p].scale);
        words[0].x[i] = four.high;
        words[1].x[i] = four.mid;
        words[2].x[i] = four.low;
      }
#pragma unroll
      for (int digit = 0; digit < 3; ++digit) {
        store(words[digit], to + p * kRowStep * Width + digit * kDigitBytes<Width>);
      }
      if (lane == 0) powers[first + p * kRowStep] = __hiloint2double(scale[p].power, 0);
    }
    // wgmma reads shared memory through another path than these stores.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }

  __device__ void raise_bits(unsigned* bits) const {
#pragma unroll
    for (int p = 0; p < kRows; ++p) {
      unsigned seen = abs_bits(largest_[p]);
#pragma unroll
      for (int step = 4; step > 0; step /= 2) seen = max(seen, __shfl_xor_sync(~0U, seen, step));
      if (!has(p)) continue;
      const int row = this->row(p);
      if (threadIdx.x % 8 == 0 && row < in_.count && bits[row] < seen) atomicMax(&bits[row], seen);
    }
  }

 private:
  static constexpr int kOwn = Width / 8;        // columns of a lane
  static constexpr int kRowStep = Threads / 8;  // from one row of a thread to the next
  static constexpr int kRows = (kBlockRows + kRowStep - 1) / kRowStep;  // that a thread cuts

  __device__ std::size_t first_column(int step) const {
    return columns_.first + static_cast<std::size_t>(step) * Width;
  }

  // Whether this thread has a p-th row; the same for all threads of a warp.
  __device__ static bool has(int p) {
    return (p + 1) * kRowStep <= kBlockRows ||
           static_cast<int>(threadIdx.x) / 8 + p * kRowStep < kBlockRows;
  }

  __device__ int row(int p) const {
    return first_row_ + static_cast<int>(threadIdx.x) / 8 + p * kRowStep;
  }

  __device__ static void load(const float* from, float (&x)[kOwn]) {
#pragma unroll
    for (int i = 0; i < kOwn; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + i * 8);
      x[i] = four.x, x[i + 1] = four.y, x[i + 2] = four.z, x[i + 3] = four.w;
    }
  }

  __device__ static void store(const Piece<unsigned, 2>& words, unsigned char* to) {
    *reinterpret_cast<uint2*>(to) = make_uint2(words.x[0], words.x[1]);
  }
  __device__ static void store(const Piece<unsigned, 4>& words, unsigned char* to) {
    *reinterpret_cast<uint4*>(to) = make_uint4(words.x[0], words.x[1], words.x[2], words.x[3]);
  }

  // x becomes factor * (x - origin), or factor * x if the row is the origin.
  __device__ void subtract(int p, const float (&origin)[kOwn], float factor,
                           float (&x)[kOwn]) const {
    if constexpr (Centred) {
      const float share = row(p) == in_.count - 1 ? 0.0F : -factor;
#pragma unroll
      for (int i = 0; i < kOwn; ++i)
        x[i] = fmaf(share, origin[i], factor == 1 ? x[i] : x[i] * factor);
    }
  }

  // The largest absolute value, or NaN if there is one.
  __device__ static float largest_of(const float (&x)[kOwn]) {
    float pairs[kOwn / 2];
#pragma unroll
    for (int i = 0; i < kOwn / 2; ++i) pairs[i] = larger(fabsf(x[2 * i]), fabsf(x[2 * i + 1]));
#pragma unroll
    for (int step = kOwn / 4; step > 0; step /= 2) {
#pragma unroll
      for (int i = 0; i < step; ++i) pairs[i] = larger(pairs[i], pairs[i + step]);
    }
    return pairs[0];
  }

  // The largest over the eight lanes of each row. With NaN the result does not matter.
  template <int N>
  __device__ static void over_lanes(float (&largest)[N]) {
#pragma unroll
    for (int step = 4; step > 0; step /= 2) {
#pragma unroll
      for (int p = 0; p < N; ++p) {
        largest[p] = fmaxf(largest[p], __shfl_xor_sync(~0U, largest[p], step));
      }
    }
  }

  // Treats rows whose numbers have no scale. Half of a difference is never too large for float, and
  // tiny numbers are multiplied by a power of two first.
  __device__ void repair(const float* from, const float (&origin)[kOwn], float (&largest)[kRows],
                         float (&x)[kRows][kOwn], Scale (&scale)[kRows]) const {
#pragma unroll
    for (int p = 0; p < kRows; ++p) {
      if (!has(p)) continue;
      int exponent = 0;
      if (largest[p] > std::numeric_limits<float>::max()) {
        load(from + p * kRowStep * Width, x[p]);
        subtract(p, origin, 0.5F, x[p]);
        exponent = 1;
      } else if (largest[p] < 0x1p-63F) {
#pragma unroll
        for (float& each : x[p]) each *= 0x1p96F;
        exponent = -96;
      }
      if (exponent != 0) largest[p] = largest_of(x[p]);
      float one[1] = {largest[p]};
      over_lanes(one);
      scale[p] = scale_for(one[0]);
      scale[p].power += exponent * (1 << 20);
    }
  }

  template <int V>
  __device__ void copy_whole(std::size_t k, float* slot) const {
    constexpr int kPieces = Width / V;  // of a row
    const int column = static_cast<int>(threadIdx.x) % kPieces * V;
    const int first = static_cast<int>(threadIdx.x) / kPieces;
#pragma unroll
    for (int r = 0; r < kBlockRows; r += Threads / kPieces) {
      if (kBlockRows % (Threads / kPieces) != 0 && first + r >= kBlockRows) break;
      copy_ahead<V * sizeof(float)>(slot + (first + r) * Width + column,
                                    lines_[first + r] + k + column);
    }
    if (Centred && first == 0) {
      copy_ahead<V * sizeof(float)>(slot + kBlockRows * Width + column, in_.origin + k + column);
    }
  }

  __device__ void copy_part(std::size_t k, float* slot) const {
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < kRawElements<Centred, Width>; at += Threads) {
      const std::size_t column = k + at % Width;
      slot[at] = column < columns_.end ? lines_[at / Width][column] : 0.0F;
    }
  }

  const GramInput<float>& in_;
  Columns columns_;
  int first_row_;
  const float** lines_;
  float* raw_;
  float largest_[kRows] = {};
};

}  // namespace
}  // namespace boba::cuda
