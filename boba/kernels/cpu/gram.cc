// All inner products in one pass over the rows.
//
// Columns are cut into chunks, chunks into panels. A panel holds all rows packed side by side, in
// blocks of columns with a power-of-two scale per row and block; products are summed in the
// panel's type within a block and in double from block to block of a chunk. The sums of the chunks
// are added in their order: nothing depends on the number of threads.
//
// For fewer than some hundred rows a member of the team does a chunk by itself, and members meet
// only to add their chunk to the whole. For more rows, all members work at one panel.
#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "boba/kernels/cpu/passes.h"
#include "boba/threads/team.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kBlockBytes = 2048;                    // of a row: six rows stay in L1
constexpr std::size_t kPanelBytes = std::size_t{384} << 10;  // aimed at: stays in L2
constexpr std::size_t kPanelMost = std::size_t{4} << 20;     // for thousands of rows
constexpr std::size_t kPanelBlocks = 32;
constexpr std::size_t kChunkRows = 512;      // above, a matrix for each member would be too much
constexpr std::size_t kPackRows = 4;         // rows per packing job
constexpr std::size_t kOriginColumns = 256;  // columns at a time when forming the origin

constexpr std::size_t round_up(std::size_t x, std::size_t unit) { return pieces(x, unit) * unit; }

// Columns of a panel.
struct Stretch {
  std::size_t first;
  std::size_t width;
};

struct Patch {
  std::size_t i;
  std::size_t j;
};

// Where row i of the upper triangle of an m by m matrix begins, rows after each other.
constexpr std::size_t triangle_row(std::size_t m, std::size_t i) { return i * m - i * (i - 1) / 2; }

// Whose turn it is to add to the whole.
class Turns {
 public:
  std::size_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }

  // Until all before it have ended.
  void wait_for(std::size_t turn) {
    for (std::size_t now = ended_.load(std::memory_order_acquire); now != turn;) {
      ended_.wait(now, std::memory_order_acquire);
      now = ended_.load(std::memory_order_acquire);
    }
  }
  void end(std::size_t turn) {
    ended_.store(turn + 1, std::memory_order_release);
    ended_.notify_all();
  }

 private:
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> ended_{0};
};

template <class T, class P>
struct PanelBuffer {
  std::vector<P> memory;  // zero where nothing is packed
  P* data = nullptr;      // aligned to a cache line
  std::vector<double> scale;
  std::vector<T> origin;
};

// Rows of type T, panels of type P.
template <class T, class P>
class GramRun {
 public:
  GramRun(const Machine& machine, const UpdateView& rows, std::span<const double> origin,
          Columns columns, bool together)
      : row_kernels_(machine.kernels<T>()),
        kernels_(machine.kernels<P>()),
        rows_(row_pointers<T>(rows)),
        origin_(rows, origin),
        length_(rows.length()),
        chunk_(chunk_columns(columns.whole)),
        together_(together),
        centred_(!origin.empty()),
        products_rows_(rows_.size() + (centred_ ? 1 : 0)),
        padded_rows_(round_up(products_rows_, kPatch)) {
    const std::size_t unit = std::max<std::size_t>(
        64, std::min(kBlockBytes, kPanelMost / padded_rows_) / sizeof(P) / kPackPad * kPackPad);
    block_ = std::min(unit, round_up(columns.whole, kPackPad));
    const std::size_t blocks =
        std::clamp<std::size_t>(kPanelBytes / (padded_rows_ * block_ * sizeof(P)), 1, kPanelBlocks);
    panel_ = std::min(blocks * block_, round_up(columns.whole, block_));
    // A little more, so that the rows of a tile do not compete for the same places of L1.
    stride_ = panel_ + kPackPad;
    for (std::size_t j = 0; j < products_rows_; j += kPatch) {
      for (std::size_t i = 0; i <= j; i += kPatch) patches_.push_back({i, j});
    }
    sums_.bits.resize(products_rows_);
    sums_.width = products_rows_ * (products_rows_ + 1) / 2;
  }

  ChunkSums run(const Machine& machine) {
    sums_.values.resize(sums_.width * (together_ ? 1 : chunks()));
    const std::size_t work = rows_.size() * length_ * sizeof(T) * (1 + rows_.size() / 16);
    const int team = machine.team(work);
    if (products_rows_ <= kChunkRows) {
      run_chunks(team);
    } else {
      run_panels(team);
    }
    return std::move(sums_);
  }

 private:
  std::size_t chunks() const { return pieces(length_, chunk_); }
  // Panel p of columns [first, end).
  Stretch panel(std::size_t first, std::size_t end, std::size_t p) const {
    const std::size_t begin = std::min(end, first + p * panel_);
    return {begin, std::min(panel_, end - begin)};
  }
  std::size_t origin_jobs(Stretch panel) const {
    return centred_ ? pieces(panel.width, kOriginColumns) : 0;
  }
  std::size_t pack_jobs() const { return pieces(products_rows_, kPackRows); }

  PanelBuffer<T, P> make_buffer() const {
    PanelBuffer<T, P> buffer;
    buffer.memory.resize(padded_rows_ * stride_ + 64 / sizeof(P));
    buffer.data = buffer.memory.data();
    while (reinterpret_cast<std::uintptr_t>(buffer.data) % 64 != 0) ++buffer.data;
    buffer.scale.resize(panel_ / block_ * padded_rows_, 1.0);
    if (centred_) buffer.origin.resize(panel_);
    return buffer;
  }

  // Each member takes the next chunk, and does it alone.
  void run_chunks(int threads) {
    Turns turns;
    const auto most = static_cast<int>(std::min<std::size_t>(chunks(), 1 << 20));
    run_team(std::min(threads, most), [&](int, int) {
      PanelBuffer<T, P> buffer = make_buffer();
      std::vector<double> matrix(products_rows_ * products_rows_);
      std::vector<AbsBits> bits(products_rows_);
      // Nothing below throws: every chunk that is taken gets its turn.
      for (std::size_t chunk = turns.take(), next = 0; chunk < chunks(); chunk = next) {
        const std::size_t first = chunk * chunk_;
        const std::size_t end = std::min(length_, first + chunk_);
        for (std::size_t p = 0, count = pieces(end - first, panel_); p < count; ++p) {
          Stretch ahead = panel(first, end, p + 1);
          if (p + 1 == count) {
            next = turns.take();
            ahead = panel(next * chunk_, length_, 0);
          }
          multiply_alone(panel(first, end, p), ahead, buffer, bits, matrix);
        }
        turns.wait_for(chunk);
        for (const Patch& patch : patches_) settle(chunk, patch, matrix);
        for (std::size_t r = 0; r < bits.size(); ++r) {
          sums_.bits[r] = std::max(sums_.bits[r], bits[r]);
        }
        turns.end(chunk);
      }
    });
  }

  // Moves a patch of a chunk's matrix to where the chunk's sums go: the rows of its upper triangle.
  void settle(std::size_t chunk, const Patch& patch, std::vector<double>& matrix) {
    const std::size_t m = products_rows_;
    double* to = sums_.values.data() + (together_ ? 0 : chunk * sums_.width);
    for (std::size_t i = patch.i; i < std::min(m, patch.i + kPatch); ++i) {
      const std::size_t first = std::max(i, patch.j);
      const std::size_t count = std::min(m, patch.j + kPatch) - first;
      double* from = matrix.data() + i * m + first;
      double* row = to + triangle_row(m, i) + (first - i);
      for (std::size_t k = 0; k < count; ++k) {
        row[k] += from[k];
        from[k] = 0;
      }
    }
  }

  void multiply_alone(Stretch panel, Stretch ahead, PanelBuffer<T, P>& buffer,
                      std::vector<AbsBits>& bits, std::vector<double>& sums) const {
    for (std::size_t job = 0; job < origin_jobs(panel); ++job) form_origin(panel, job, buffer);
    for (std::size_t job = 0; job < pack_jobs(); ++job) pack(panel, job, buffer, bits);
    for (std::size_t job = 0; job < patches_.size(); ++job) {
      multiply(panel, job, ahead, buffer, sums);
    }
  }

  // All members at one panel: while panel p is multiplied, p + 1 is packed and the origin of p + 2
  // is formed. Each patch of the matrix gets the blocks in their order, one member at a time, and
  // is settled by the same job as the last panel of a chunk.
  void run_panels(int threads) {
    PanelBuffer<T, P> buffers[2] = {make_buffer(), make_buffer()};
    std::vector<double> matrix(products_rows_ * products_rows_);
    const std::size_t of_chunk = pieces(chunk_, panel_);
    const std::size_t last = (chunks() - 1) * chunk_;
    const std::size_t count = (chunks() - 1) * of_chunk + pieces(length_ - last, panel_);
    const auto at = [&](std::size_t p) {
      const std::size_t first = std::min(length_, p / of_chunk * chunk_);
      return panel(first, std::min(length_, first + chunk_), p % of_chunk);
    };
    const auto origins = [&](std::size_t stage) {
      return stage < count ? origin_jobs(at(stage)) : 0;
    };
    const auto packs = [&](std::size_t stage) {
      return stage >= 1 && stage <= count ? pack_jobs() : 0;
    };
    const auto products = [&](std::size_t stage) { return stage >= 2 ? patches_.size() : 0; };
    run_stages(
        threads, count + 2,
        [&](std::size_t stage) { return origins(stage) + packs(stage) + products(stage); },
        [&](std::size_t stage, std::size_t job, int) {
          if (job < products(stage)) {
            const std::size_t p = stage - 2;
            multiply(at(p), job, at(stage), buffers[stage % 2], matrix);
            if (p + 1 == count || (p + 1) % of_chunk == 0) {
              settle(p / of_chunk, patches_[job], matrix);
            }
            return;
          }
          job -= products(stage);
          if (job < packs(stage)) {
            return pack(at(stage - 1), job, buffers[(stage - 1) % 2], sums_.bits);
          }
          form_origin(at(stage), job - packs(stage), buffers[stage % 2]);
        });
  }

  void form_origin(Stretch panel, std::size_t job, PanelBuffer<T, P>& buffer) const {
    const std::size_t first = job * kOriginColumns;
    const std::size_t count = std::min(kOriginColumns, panel.width - first);
    double sum[kOriginColumns] = {};
    row_kernels_.accumulate(origin_.rows.data(), origin_.weights.data(), origin_.rows.size(),
                            panel.first + first, count, 0, sum, nullptr);
    T* to = buffer.origin.data() + first;
    // Any finite origin will do; an infinite one would spoil all rows.
    constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
    for (std::size_t k = 0; k < count; ++k) {
      to[k] = static_cast<T>(std::min(std::max(sum[k], -kMost), kMost));
    }
  }

  void pack(Stretch panel, std::size_t job, PanelBuffer<T, P>& buffer,
            std::vector<AbsBits>& bits) const {
    const std::size_t end = std::min(products_rows_, (job + 1) * kPackRows);
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

  void multiply(Stretch panel, std::size_t job, Stretch next, const PanelBuffer<T, P>& buffer,
                std::vector<double>& sums) const {
    kernels_.products({.data = buffer.data,
                       .scale = buffer.scale.data(),
                       .stride = stride_,
                       .scale_stride = padded_rows_,
                       .rows = products_rows_,
                       .block = block_,
                       .width = round_up(panel.width, kPackPad)},
                      patches_[job].i, patches_[job].j, ahead(next, job), sums.data());
  }

  // Each job's share of the rows in a panel to come.
  Ahead<P> ahead(Stretch panel, std::size_t job) const {
    if (panel.width == 0 || rows_.size() * panel_ * sizeof(P) > kPanelBytes) return {};
    if constexpr (std::is_same_v<T, P>) {
      const std::size_t share = pieces(rows_.size(), patches_.size());
      const std::size_t first = std::min(job * share, rows_.size());
      return {.rows = rows_.data() + first,
              .count = std::min(share, rows_.size() - first),
              .first = panel.first,
              .width = panel.width};
    }
    return {};
  }

  const SimdKernels<T>& row_kernels_;
  const SimdKernels<P>& kernels_;
  std::vector<const T*> rows_;
  WeightedRows<T> origin_;
  std::size_t length_;
  std::size_t chunk_;  // columns
  bool together_;
  bool centred_;
  std::size_t products_rows_;  // the rows, and the origin where there is one
  std::size_t padded_rows_;
  std::size_t block_ = 0;
  std::size_t panel_ = 0;  // columns, a multiple of block_
  std::size_t stride_ = 0;
  std::vector<Patch> patches_;
  ChunkSums sums_;
};

GramPass no_columns(std::size_t rows) {
  return {.centred = std::vector<double>(rows * rows),
          .origin_dot = std::vector<double>(rows),
          .origin_sq = 0,
          .scan = std::vector<RowScan>(rows)};
}

}  // namespace

ChunkSums gram_sums(const Machine& machine, const UpdateView& rows, std::span<const double> origin,
                    Precision precision, Columns columns, bool together) {
  return visit(rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (precision == Precision::kDouble)
      return GramRun<T, double>(machine, rows, origin, columns, together).run(machine);
    return GramRun<T, T>(machine, rows, origin, columns, together).run(machine);
  });
}

GramPass gram_pass(const UpdateView& rows, bool centred, Precision precision,
                   std::span<const double> total, std::span<const AbsBits> bits) {
  const std::size_t n = rows.rows();
  const std::size_t m = n + (centred ? 1 : 0);
  const DType packed = precision == Precision::kDouble ? DType::kFloat64 : rows.dtype();
  GramPass pass = no_columns(n);
  for (std::size_t i = 0; i < n; ++i) {
    pass.scan[i] = visit(packed, [&](auto zero) { return scan_of<decltype(zero)>(bits[i]); });
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!pass.scan[i].finite) continue;
    const double* row = total.data() + triangle_row(m, i);
    if (centred) pass.origin_dot[i] = row[n - i];
    for (std::size_t j = i; j < n; ++j) {
      if (!pass.scan[j].finite) continue;
      pass.centred[i * n + j] = row[j - i];
      pass.centred[j * n + i] = row[j - i];
    }
  }
  if (centred) pass.origin_sq = total[triangle_row(m, n)];
  return pass;
}

GramPass gram(const Machine& machine, const UpdateView& rows, std::span<const double> origin,
              Precision precision) {
  if (rows.empty() || rows.length() == 0) return no_columns(rows.rows());
  const ChunkSums sums = gram_sums(machine, rows, origin, precision, {rows.length(), 0}, true);
  return gram_pass(rows, !origin.empty(), precision, sums.values, sums.bits);
}

}  // namespace boba::cpu
