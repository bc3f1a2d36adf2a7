// The passes over d, one source each, and what they share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/random.h"
#include "boba/kernels/cpu/chunks.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/cpu/simd.h"

namespace boba::cpu {

// The processor as a pass uses it.
struct Machine {
  const SimdTable* simd = nullptr;
  int threads = 1;
  std::size_t grain = 1;  // bytes to read that are worth one more thread

  template <class T>
  const SimdKernels<T>& kernels() const {
    if constexpr (std::is_same_v<T, float>) {
      return simd->f32;
    } else {
      return simd->f64;
    }
  }

  // How many threads a pass over so many bytes should start.
  int team(std::size_t bytes) const {
    const std::size_t worth = bytes / std::max<std::size_t>(grain, 1);
    return worth >= static_cast<std::size_t>(threads) ? threads
                                                      : std::max(1, static_cast<int>(worth));
  }
};

// REQUIRES: simd_supported(options.simd).
Machine machine_of(const CpuOptions& options);

template <class T>
RowScan scan_of(AbsBits bits) {
  if (bits >= kInfinityBits<T>) return {.finite = false, .max_abs = 0};
  T value;
  const auto narrow = static_cast<Int<T>>(bits);
  static_assert(sizeof value == sizeof narrow);
  __builtin_memcpy(&value, &narrow, sizeof value);
  return {.finite = true, .max_abs = static_cast<double>(value)};
}

// The largest absolute value of each row, as bits. Each member of a team has its own numbers.
class MemberBits {
 public:
  MemberBits(int members, std::size_t rows)
      : stride_((rows + 7) / 8 * 8 + 8), bits_(static_cast<std::size_t>(members) * stride_) {}

  AbsBits* of(int member) { return bits_.data() + static_cast<std::size_t>(member) * stride_; }

  AbsBits largest(std::size_t row) const {
    AbsBits largest = 0;
    for (std::size_t k = row; k < bits_.size(); k += stride_) largest = std::max(largest, bits_[k]);
    return largest;
  }

 private:
  std::size_t stride_;  // so that two members share no cache line
  std::vector<AbsBits> bits_;
};

// The rows with a weight other than 0; the others are never read.
template <class T>
struct WeightedRows {
  WeightedRows(const UpdateView& view, std::span<const double> all_weights) {
    for (std::size_t i = 0; i < all_weights.size(); ++i) {
      if (all_weights[i] == 0) continue;
      rows.push_back(view.row<T>(i));
      weights.push_back(all_weights[i]);
      index.push_back(i);
    }
  }

  std::vector<const T*> rows;
  std::vector<double> weights;
  std::vector<std::size_t> index;
};

template <class T>
std::vector<const T*> row_pointers(const UpdateView& view) {
  std::vector<const T*> rows(view.rows());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = view.row<T>(i);
  return rows;
}

// Divides the columns into tiles. A job is several neighbouring tiles. A tile of all rows should
// fit L2 beside the next one, which is being fetched.
template <class T>
class Tiling {
 public:
  // REQUIRES: most is a multiple of 256.
  Tiling(std::size_t rows, std::size_t length, std::size_t most) : length_(length) {
    constexpr std::size_t kTileBytes = std::size_t{512} << 10;
    const std::size_t fitting = kTileBytes / (std::max<std::size_t>(rows, 1) * sizeof(T));
    tile_ = std::clamp<std::size_t>(fitting / 256 * 256, 256, most);
  }

  std::size_t jobs() const { return ceil_divide(length_, tile_ * kTilesOfJob); }

  // Calls body(first, width, prefetch) for each tile of a job; prefetch as in SimdKernels.
  template <class Body>
  void run(std::size_t job, const Body& body) const {
    const std::size_t begin = job * tile_ * kTilesOfJob;
    const std::size_t end = std::min(length_, begin + tile_ * kTilesOfJob);
    for (std::size_t first = begin; first < end; first += tile_) {
      body(first, std::min(tile_, end - first), first + 2 * tile_ <= length_ ? tile_ : 0);
    }
  }

 private:
  static constexpr std::size_t kTilesOfJob = 8;
  std::size_t length_;
  std::size_t tile_ = 0;
};

GramPass gram(const Machine& machine, const UpdateView& rows, std::span<const double> origin,
              Precision precision);
DotsPass dots(const Machine& machine, const UpdateView& rows, const UpdateView& reference,
              std::span<const double> weights);
// gram() and dots() in two steps, for rows that hold some columns of whole updates: the sums of
// each chunk, and the result from the total of all chunks, added in order. add_chunks: returns the
// total in place of the sums of each chunk.
ChunkSums gram_sums(const Machine& machine, const UpdateView& rows, std::span<const double> origin,
                    Precision precision, Columns columns, bool add_chunks);
GramPass gram_pass(const UpdateView& rows, bool centred, Precision precision,
                   std::span<const double> total, std::span<const AbsBits> bits);
ChunkSums dots_sums(const Machine& machine, const UpdateView& rows, const UpdateView& reference,
                    std::span<const double> weights, Columns columns);
DotsPass dots_pass(const UpdateView& rows, bool products, std::span<const double> total,
                   std::span<const AbsBits> bits);
// Adds the rows to the sketches that sums has. A row that is not finite spoils its sketch.
std::vector<RowScan> add_sketches(const Machine& machine, const UpdateView& rows,
                                  const SketchPlan& plan, std::span<double> sums);
std::vector<RowScan> sketch(const Machine& machine, const UpdateView& rows, const SketchPlan& plan,
                            std::span<double> out);
OutputPass combine(const Machine& machine, const UpdateView& rows, std::span<const double> weights,
                   double keep, MutableRow out);
OutputPass order_mean(const Machine& machine, const UpdateView& rows, const Mix* mix,
                      std::size_t first, std::size_t last, MutableRow out);
OutputPass moments(const Machine& machine, const UpdateView& rows, double mean_factor,
                   double deviation_factor, MutableRow out);
// The numbers of the stream from `first` on, which is even.
OutputPass normal(const Machine& machine, const StreamKey& key, double sigma, std::size_t first,
                  MutableRow out);

}  // namespace boba::cpu
