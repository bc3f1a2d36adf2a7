// Memory is all that counts here, so every number is read once and all work is in registers. The
// tensor cores take rows, columns and terms of a sum in any order if both factors agree on it: the
// orders below are those in which a lane's numbers are together in memory and no lane needs
// another's.
//
// lane = 4 * group + part. Of a product of 16 x 16 and 16 x 8 numbers a lane has of the first
// factor rows group and group + 8, of the second column group, of both the terms 2 * part,
// 2 * part + 1 and the same + 8; of the result rows group and group + 8, columns 2 * part and
// 2 * part + 1.
#include <cuda_bf16.h>

#include <algorithm>

#include "simulator/torch/conv_pool_kernels.h"

namespace boba::sim {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr unsigned kTask = 8;  // windows that a warp takes at a time
constexpr unsigned kMostBlocks = 1 << 14;
constexpr std::int64_t kSumBlocks = 1 << 12;  // many to an SM, so that none waits long for others
constexpr std::int64_t kLeastTasks = 4;       // of a warp
constexpr unsigned kNoPlaces = 0x04040404;
constexpr unsigned kOnes = 0x3f803f80;

// a b + c with a: (first row's terms, second's, first's + 8, second's + 8), c: by rows. volatile:
// all lanes are needed, so it must not move to where only some of them come.
__device__ float4 multiply_add(const uint4& a, const uint2& b, const float4& c) {
  float4 d;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d.x), "=f"(d.y), "=f"(d.z), "=f"(d.w)
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "f"(c.x), "f"(c.y), "f"(c.z),
        "f"(c.w));
  return d;
}

// A part of the neighbourhoods at a window's four places. With even sides the windows' rows of all
// images are one list.
template <class T>
__device__ void load_window(const T* __restrict__ x, unsigned window, unsigned columns,
                            unsigned part, T (&out)[4]) {
  constexpr std::size_t kParts = kConvPoolPlaces * sizeof(__nv_bfloat16) / sizeof(T);
  const unsigned row = window / columns;
  const std::size_t corner = 2 * (std::size_t{row} * columns + window);
  const T* from = x + corner * kParts + part;
  const std::size_t down = 2 * kParts * columns;
  out[0] = from[0];
  out[1] = from[kParts];
  out[2] = from[down];
  out[3] = from[down + kParts];
}

struct Largest {
  float value = 0;
  unsigned place = 4;
};

__device__ Largest largest(float a, float b, float c, float d) {
  const float four[4] = {a, b, c, d};
  Largest best;
#pragma unroll
  for (unsigned place = 0; place < 4; ++place) {
    const float here = four[place];
    // A number that is none stays one.
    if (here > best.value || here != here) best = {here, place};
  }
  return best;
}

__device__ unsigned pair_of(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

// Of window group and the outputs 8 * part to 8 * part + 7. A lane's terms are the places 8 * part
// to 8 * part + 7; rows of one product are the upper places of the windows, left and right, and of
// another the lower ones; column group of weights j is output 8 * (group / 2) + 2 * j + group % 2.
__device__ void pool_windows(const uint4 (&x)[4], const uint4 (&weights)[4],
                             const float2 (&bias)[4], uint4& values, uint2& places) {
  unsigned value[4];
  unsigned place[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const uint2 first = {weights[j].x, weights[j].y};
    const uint2 second = {weights[j].z, weights[j].w};
    const float4 start = {bias[j].x, bias[j].y, bias[j].x, bias[j].y};
    float4 top = multiply_add({x[0].x, x[1].x, x[0].y, x[1].y}, first, start);
    top = multiply_add({x[0].z, x[1].z, x[0].w, x[1].w}, second, top);
    float4 bottom = multiply_add({x[2].x, x[3].x, x[2].y, x[3].y}, first, start);
    bottom = multiply_add({x[2].z, x[3].z, x[2].w, x[3].w}, second, bottom);
    const Largest even = largest(top.x, top.z, bottom.x, bottom.z);
    const Largest odd = largest(top.y, top.w, bottom.y, bottom.w);
    value[j] = pair_of(even.value, odd.value);
    place[j] = even.place | odd.place << 8;
  }
  values = {value[0], value[1], value[2], value[3]};
  places = {place[0] | place[1] << 16, place[2] | place[3] << 16};
}

__global__ void __launch_bounds__(kThreads, 3)
    conv_pool_kernel(unsigned windows, unsigned columns, const uint4* __restrict__ x,
                     const uint4* __restrict__ weights, const float* __restrict__ bias,
                     uint4* __restrict__ values, uint2* __restrict__ places) {
  const unsigned group = threadIdx.x % 32 / 4;
  const unsigned part = threadIdx.x % 4;
  uint4 rows[4];
  float2 shift[4];
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    rows[j] = weights[(8 * (group / 2) + 2 * j + group % 2) * 4 + part];
    shift[j] = {bias[8 * part + 2 * j], bias[8 * part + 2 * j + 1]};
  }
  const unsigned step = gridDim.x * kWarps * kTask;
  unsigned window = (blockIdx.x * kWarps + threadIdx.x / 32) * kTask + group;
  // Lanes beyond the end work on the last window with the others and store nothing.
  uint4 here[4];
  load_window(x, min(window, windows - 1), columns, part, here);
  for (; window - group < windows; window += step) {
    // On their way while this task's are worked on.
    uint4 next[4];
    load_window(x, min(window + step, windows - 1), columns, part, next);
    uint4 value;
    uint2 place;
    pool_windows(here, rows, shift, value, place);
    if (window < windows) {
      values[std::size_t{window} * 4 + part] = value;
      places[std::size_t{window} * 4 + part] = place;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) here[k] = next[k];
  }
}

// What a lane knows of four windows: of window part, outputs and places 4 * group to 4 * group + 3.
struct Four {
  uint2 x[4];
  uint2 gradient;
  unsigned places;
  unsigned past;  // kNoPlaces where there is no such window
};

struct Client {
  const uint2* x;
  const uint2* gradient;
  const unsigned* places;
  unsigned first;  // of the list's windows
  unsigned windows;
  unsigned columns;
};

__device__ Four load_four(const Client& client, unsigned window, unsigned group) {
  const unsigned at = client.first + min(window, client.windows - 1);
  Four four;
  load_window(client.x, at, client.columns, group, four.x);
  four.gradient = client.gradient[std::size_t{at} * 8 + group];
  four.places = client.places[std::size_t{at} * 8 + group];
  // Not used here: nothing waits for what was loaded.
  four.past = window < client.windows ? 0 : kNoPlaces;
  return four;
}

// The gradient of two neighbouring outputs at the four places of the window: terms 2 * part and
// 2 * part + 1 are its places 0 and 1, the same + 8 its places 2 and 3; 4 and above are none. A
// shift by more than 32 is one by 32.
__device__ uint4 spread(unsigned pair, unsigned first_place, unsigned second_place) {
  const unsigned low = pair & 0xffff;
  const unsigned high = pair >> 16;
  const unsigned first = 16 * first_place;
  const unsigned second = 16 * second_place;
  return {__funnelshift_lc(0, low, first), __funnelshift_lc(0, high, second),
          __funnelshift_lc(0, low, first - 32), __funnelshift_lc(0, high, second - 32)};
}

// Rows of product i are the outputs 4 * group + 2 * i and the next, columns of product j the places
// 4 * group + j.
__device__ void add_four(const Four& four, bool last, float4 (&sums)[2][4]) {
  const unsigned places = four.places | four.past;
  const uint4 a[2] = {spread(four.gradient.x, places & 0xff, places >> 8 & 0xff),
                      spread(four.gradient.y, places >> 16 & 0xff, places >> 24)};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const unsigned half = j % 2 == 0 ? 0x5410 : 0x7632;
    const auto from = [&](int place) { return j < 2 ? four.x[place].x : four.x[place].y; };
    uint2 b = {__byte_perm(from(0), from(1), half), __byte_perm(from(2), from(3), half)};
    // The bias is a weight of ones.
    if (j == 3 && last) b = {kOnes, kOnes};
#pragma unroll
    for (int i = 0; i < 2; ++i) sums[i][j] = multiply_add(a[i], b, sums[i][j]);
  }
}

// Adds over the block's warps in their order; sums as add_four leaves them.
__device__ void write_total(const float4 (&sums)[2][4], float4* out) {
  constexpr int kQuads = kConvPoolOutputs * kConvPoolPlaces / 4;
  static_assert(kQuads == kThreads, "each thread adds one");
  __shared__ float4 totals[kWarps][kQuads];
  const unsigned group = threadIdx.x % 32 / 4;
  const unsigned part = threadIdx.x % 4;
  float4* mine = totals[threadIdx.x / 32] + 32 * group + 2 * part;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float4(&s)[4] = sums[i];
    mine[16 * i] = {s[0].x, s[1].x, s[2].x, s[3].x};
    mine[16 * i + 1] = {s[0].y, s[1].y, s[2].y, s[3].y};
    mine[16 * i + 8] = {s[0].z, s[1].z, s[2].z, s[3].z};
    mine[16 * i + 9] = {s[0].w, s[1].w, s[2].w, s[3].w};
  }
  __syncthreads();
  float4 total = totals[0][threadIdx.x];
  for (int warp = 1; warp < kWarps; ++warp) {
    const float4 more = totals[warp][threadIdx.x];
    total = {total.x + more.x, total.y + more.y, total.z + more.z, total.w + more.w};
  }
  out[threadIdx.x] = total;
}

__global__ void __launch_bounds__(kThreads, 2)
    conv_pool_gradient_kernel(unsigned windows, unsigned columns, unsigned slices,
                              const uint2* __restrict__ x, const uint2* __restrict__ gradient,
                              const unsigned* __restrict__ places, float4* __restrict__ parts) {
  const unsigned group = threadIdx.x % 32 / 4;
  const unsigned part = threadIdx.x % 4;
  const bool last = group == 7;
  const Client client{x, gradient, places, blockIdx.x / slices * windows, windows, columns};
  const unsigned tasks = (windows + kTask - 1) / kTask;
  const unsigned share = (tasks + slices - 1) / slices;
  const unsigned first = blockIdx.x % slices * share;
  const unsigned end = min(first + share, tasks);
  float4 sums[2][4] = {};
  unsigned task = first + threadIdx.x / 32;
  Four here[2] = {load_four(client, task * kTask + part, group),
                  load_four(client, task * kTask + 4 + part, group)};
  for (; task < end; task += kWarps) {
    // On their way while this task's are worked on.
    const unsigned after = min(task + kWarps, end - 1) * kTask + part;
    const Four next[2] = {load_four(client, after, group), load_four(client, after + 4, group)};
    add_four(here[0], last, sums);
    add_four(here[1], last, sums);
    here[0] = next[0];
    here[1] = next[1];
  }
  write_total(sums, parts + std::size_t{blockIdx.x} * kThreads);
}

}  // namespace

void conv_pool(const WindowList& shape, const void* x, const void* weights, const float* bias,
               void* values, std::uint8_t* places, cudaStream_t stream) {
  if (shape.windows == 0) return;
  const auto windows = static_cast<unsigned>(shape.windows);
  const unsigned blocks = std::min((windows - 1) / (kWarps * kTask) + 1, kMostBlocks);
  conv_pool_kernel<<<blocks, kThreads, 0, stream>>>(
      windows, static_cast<unsigned>(shape.columns), static_cast<const uint4*>(x),
      static_cast<const uint4*>(weights), bias, static_cast<uint4*>(values),
      reinterpret_cast<uint2*>(places));
}

std::int64_t conv_pool_slices(const WindowList& shape, std::int64_t clients) {
  const std::int64_t wanted = (kSumBlocks - 1) / clients + 1;
  const std::int64_t most = shape.windows / clients / (kTask * kWarps * kLeastTasks);
  return std::max<std::int64_t>(std::min(wanted, most), 1);
}

void conv_pool_gradient(const WindowList& shape, std::int64_t clients, std::int64_t slices,
                        const void* x, const void* gradient, const std::uint8_t* places,
                        float* parts, cudaStream_t stream) {
  if (shape.windows == 0) return;
  conv_pool_gradient_kernel<<<static_cast<unsigned>(clients * slices), kThreads, 0, stream>>>(
      static_cast<unsigned>(shape.windows / clients), static_cast<unsigned>(shape.columns),
      static_cast<unsigned>(slices), static_cast<const uint2*>(x),
      static_cast<const uint2*>(gradient), reinterpret_cast<const unsigned*>(places),
      reinterpret_cast<float4*>(parts));
}

}  // namespace boba::sim
