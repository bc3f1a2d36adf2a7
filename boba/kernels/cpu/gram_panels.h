// Panels: some columns of all rows, packed side by side and multiplied.
//
// A panel consists of blocks of columns with a power-of-two scale per row and block. Products are
// summed in the panel's type within a block and in double from block to block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "boba/kernels/cpu/passes.h"

namespace boba::cpu {

// The columns of a panel.
struct PanelColumns {
  std::size_t first;
  std::size_t width;
};

// The part of the matrix that one job updates: kPatch rows from i and kPatch columns from j.
struct Patch {
  std::size_t i;
  std::size_t j;
};

template <class T, class P>
struct PanelBuffer {
  std::vector<P> memory;  // zero where nothing is packed
  P* data = nullptr;      // aligned to a cache line
  std::vector<double> scale;
  std::vector<T> origin;
};

// How panels of type P are made of rows of type T. Immutable, so that threads may share it.
template <class T, class P>
class GramPanels {
 public:
  // whole: the length of whole updates; see Columns.
  GramPanels(const Machine& machine, const UpdateView& rows, std::span<const double> origin,
             std::size_t whole)
      : row_kernels_(machine.kernels<T>()),
        kernels_(machine.kernels<P>()),
        rows_(row_pointers<T>(rows)),
        origin_(rows, origin),
        centred_(!origin.empty()),
        product_rows_(rows_.size() + (centred_ ? 1 : 0)),
        padded_rows_(round_up(product_rows_, kPatch)) {
    const std::size_t unit = std::max<std::size_t>(
        64, std::min(kBlockBytes, kMostBytes / padded_rows_) / sizeof(P) / kPackPad * kPackPad);
    block_ = std::min(unit, round_up(whole, kPackPad));
    const std::size_t blocks =
        std::clamp<std::size_t>(kBytes / (padded_rows_ * block_ * sizeof(P)), 1, kMostBlocks);
    columns_ = std::min(blocks * block_, round_up(whole, block_));
    // A little more, so that the rows of a tile do not compete for the same places of L1.
    stride_ = columns_ + kPackPad;
    for (std::size_t j = 0; j < product_rows_; j += kPatch) {
      for (std::size_t i = 0; i <= j; i += kPatch) patches_.push_back({i, j});
    }
  }

  std::size_t rows() const { return rows_.size(); }
  // The rows, and the origin where there is one: the matrix of products has so many rows.
  std::size_t product_rows() const { return product_rows_; }
  std::size_t columns() const { return columns_; }  // of a panel
  const std::vector<Patch>& patches() const { return patches_; }

  std::size_t origin_jobs(PanelColumns panel) const {
    return centred_ ? ceil_divide(panel.width, kOriginColumns) : 0;
  }
  std::size_t pack_jobs() const { return ceil_divide(product_rows_, kPackRows); }

  PanelBuffer<T, P> make_buffer() const {
    PanelBuffer<T, P> buffer;
    buffer.memory.resize(padded_rows_ * stride_ + 64 / sizeof(P));
    buffer.data = buffer.memory.data();
    while (reinterpret_cast<std::uintptr_t>(buffer.data) % 64 != 0) ++buffer.data;
    buffer.scale.resize(columns_ / block_ * padded_rows_, 1.0);
    if (centred_) buffer.origin.resize(columns_);
    return buffer;
  }

  // The three steps of a panel; each has jobs that may run at the same time.
  void form_origin(PanelColumns panel, std::size_t job, PanelBuffer<T, P>& buffer) const {
    const std::size_t first = job * kOriginColumns;
    const std::size_t count = std::min(kOriginColumns, panel.width - first);
    double sum[kOriginColumns] = {};
    row_kernels_.accumulate(origin_.rows.data(), origin_.weights.data(), origin_.rows.size(),
                            panel.first + first, count, 0, sum, nullptr);
    T* to = buffer.origin.data() + first;
    // Any finite origin serves; an infinite one would spoil all rows.
    constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
    for (std::size_t k = 0; k < count; ++k) {
      to[k] = static_cast<T>(std::min(std::max(sum[k], -kMost), kMost));
    }
  }

  void pack(PanelColumns panel, std::size_t job, PanelBuffer<T, P>& buffer,
            std::vector<AbsBits>& bits) const {
    const std::size_t end = std::min(product_rows_, (job + 1) * kPackRows);
    for (std::size_t r = job * kPackRows; r < end; ++r) {
      const bool is_origin = r == rows_.size();
      const T* row = is_origin ? buffer.origin.data() : rows_[r] + panel.first;
      const T* origin = centred_ && !is_origin ? buffer.origin.data() : nullptr;
      for (std::size_t first = 0, b = 0; first < panel.width; first += block_, ++b) {
        const PackedBlock packed =
            pack_block(row + first, origin == nullptr ? nullptr : origin + first,
                       std::min(block_, panel.width - first), buffer.data + r * stride_ + first);
        buffer.scale[b * padded_rows_ + r] = packed.scale;
        bits[r] = std::max(bits[r], packed.bits);
      }
    }
  }

  // Adds the products of one patch. next: the panel that is packed next.
  void multiply(PanelColumns panel, std::size_t job, PanelColumns next,
                const PanelBuffer<T, P>& buffer, std::vector<double>& sums) const {
    kernels_.products({.data = buffer.data,
                       .scale = buffer.scale.data(),
                       .stride = stride_,
                       .scale_stride = padded_rows_,
                       .rows = product_rows_,
                       .block = block_,
                       .width = round_up(panel.width, kPackPad)},
                      patches_[job].i, patches_[job].j, prefetch(next, job), sums.data());
  }

 private:
  static constexpr std::size_t kBlockBytes = 2048;                 // of a row: six rows stay in L1
  static constexpr std::size_t kBytes = std::size_t{384} << 10;    // aimed at: stays in L2
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // for thousands of rows
  static constexpr std::size_t kMostBlocks = 32;
  static constexpr std::size_t kPackRows = 4;         // rows per packing job
  static constexpr std::size_t kOriginColumns = 256;  // columns at a time when forming the origin

  static constexpr std::size_t round_up(std::size_t x, std::size_t unit) {
    return ceil_divide(x, unit) * unit;
  }

  PackedBlock pack_block(const T* row, const T* origin, std::size_t width, P* to) const {
    if constexpr (std::is_same_v<T, P>) {
      return kernels_.pack(row, origin, width, to);
    } else {
      P wide_row[kBlockBytes / sizeof(P)];
      P wide_origin[kBlockBytes / sizeof(P)];
      std::copy_n(row, width, wide_row);
      if (origin == nullptr) return kernels_.pack(wide_row, nullptr, width, to);
      std::copy_n(origin, width, wide_origin);
      return kernels_.pack(wide_row, wide_origin, width, to);
    }
  }

  // The rows of the next panel that a job fetches.
  Prefetch<P> prefetch(PanelColumns next, std::size_t job) const {
    if (next.width == 0 || rows_.size() * columns_ * sizeof(P) > kBytes) return {};
    if constexpr (std::is_same_v<T, P>) {
      const std::size_t share = ceil_divide(rows_.size(), patches_.size());
      const std::size_t first = std::min(job * share, rows_.size());
      return {.rows = rows_.data() + first,
              .count = std::min(share, rows_.size() - first),
              .first = next.first,
              .width = next.width};
    }
    return {};
  }

  const SimdKernels<T>& row_kernels_;
  const SimdKernels<P>& kernels_;
  std::vector<const T*> rows_;
  WeightedRows<T> origin_;
  bool centred_;
  std::size_t product_rows_;
  std::size_t padded_rows_;
  std::size_t block_ = 0;    // columns
  std::size_t columns_ = 0;  // a multiple of block_
  std::size_t stride_ = 0;
  std::vector<Patch> patches_;
};

}  // namespace boba::cpu
