// All inner products in one pass over the rows.
//
// Columns are divided into chunks, chunks into panels (gram_panels.h). The sums of the chunks are
// added in order, so nothing depends on the number of threads.
//
// For up to 512 rows a member of the team does a chunk by itself, and members meet only to add
// their chunk to the total. For more rows, all members work on one panel.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "boba/kernels/cpu/gram_panels.h"
#include "boba/kernels/cpu/passes.h"
#include "boba/threads/team.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kChunkRows = 512;  // for more rows a matrix per member takes too much memory

// Where row i of the upper triangle of an m by m matrix begins, with the rows one after the other.
constexpr std::size_t triangle_row(std::size_t m, std::size_t i) { return i * m - i * (i - 1) / 2; }

// Gives out chunks, and lets members add them to the total in order.
class ChunkOrder {
 public:
  std::size_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }

  // Returns when all chunks before this one are done.
  void wait_for(std::size_t chunk) {
    for (std::size_t now = done_.load(std::memory_order_acquire); now != chunk;) {
      done_.wait(now, std::memory_order_acquire);
      now = done_.load(std::memory_order_acquire);
    }
  }
  void finish(std::size_t chunk) {
    done_.store(chunk + 1, std::memory_order_release);
    done_.notify_all();
  }

 private:
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> done_{0};
};

// Rows of type T, panels of type P. Who works on which panel, and when.
template <class T, class P>
class GramRun {
 public:
  GramRun(const Machine& machine, const UpdateView& rows, std::span<const double> origin,
          Columns columns, bool add_chunks)
      : panels_(machine, rows, origin, columns.whole),
        length_(rows.length()),
        chunk_(chunk_columns(columns.whole)),
        add_chunks_(add_chunks),
        size_(panels_.product_rows()) {
    sums_.bits.resize(size_);
    sums_.width = size_ * (size_ + 1) / 2;
  }

  ChunkSums run(const Machine& machine) {
    sums_.values.resize(sums_.width * (add_chunks_ ? 1 : chunks()));
    const std::size_t n = panels_.rows();
    const int team = machine.team(n * length_ * sizeof(T) * (1 + n / 16));
    if (size_ <= kChunkRows) {
      run_chunks(team);
    } else {
      run_panels(team);
    }
    return std::move(sums_);
  }

 private:
  std::size_t chunks() const { return ceil_divide(length_, chunk_); }
  // Panel p of columns [first, end).
  PanelColumns panel(std::size_t first, std::size_t end, std::size_t p) const {
    const std::size_t begin = std::min(end, first + p * panels_.columns());
    return {begin, std::min(panels_.columns(), end - begin)};
  }

  // Each member takes the next chunk and does it alone.
  void run_chunks(int threads) {
    ChunkOrder order;
    const auto most = static_cast<int>(std::min<std::size_t>(chunks(), 1 << 20));
    run_team(std::min(threads, most), [&](int, int) {
      PanelBuffer<T, P> buffer = panels_.make_buffer();
      std::vector<double> matrix(size_ * size_);
      std::vector<AbsBits> bits(size_);
      // Nothing below throws, so every chunk that is taken is also finished.
      for (std::size_t chunk = order.take(), next = 0; chunk < chunks(); chunk = next) {
        const std::size_t first = chunk * chunk_;
        const std::size_t end = std::min(length_, first + chunk_);
        for (std::size_t p = 0, count = ceil_divide(end - first, panels_.columns()); p < count;
             ++p) {
          PanelColumns following = panel(first, end, p + 1);
          if (p + 1 == count) {
            next = order.take();
            following = panel(next * chunk_, length_, 0);
          }
          multiply_alone(panel(first, end, p), following, buffer, bits, matrix);
        }
        order.wait_for(chunk);
        for (const Patch& patch : panels_.patches()) add_patch(chunk, patch, matrix);
        for (std::size_t r = 0; r < bits.size(); ++r) {
          sums_.bits[r] = std::max(sums_.bits[r], bits[r]);
        }
        order.finish(chunk);
      }
    });
  }

  // Moves a patch of a chunk's matrix to the chunk's sums, which are the rows of its upper
  // triangle.
  void add_patch(std::size_t chunk, const Patch& patch, std::vector<double>& matrix) {
    double* to = sums_.values.data() + (add_chunks_ ? 0 : chunk * sums_.width);
    for (std::size_t i = patch.i; i < std::min(size_, patch.i + kPatch); ++i) {
      const std::size_t first = std::max(i, patch.j);
      const std::size_t count = std::min(size_, patch.j + kPatch) - first;
      double* from = matrix.data() + i * size_ + first;
      double* row = to + triangle_row(size_, i) + (first - i);
      for (std::size_t k = 0; k < count; ++k) {
        row[k] += from[k];
        from[k] = 0;
      }
    }
  }

  void multiply_alone(PanelColumns panel, PanelColumns next, PanelBuffer<T, P>& buffer,
                      std::vector<AbsBits>& bits, std::vector<double>& sums) const {
    for (std::size_t job = 0; job < panels_.origin_jobs(panel); ++job) {
      panels_.form_origin(panel, job, buffer);
    }
    for (std::size_t job = 0; job < panels_.pack_jobs(); ++job) {
      panels_.pack(panel, job, buffer, bits);
    }
    for (std::size_t job = 0; job < panels_.patches().size(); ++job) {
      panels_.multiply(panel, job, next, buffer, sums);
    }
  }

  // All members work on one panel: while panel p is multiplied, p + 1 is packed and the origin of
  // p + 2 is formed. Each patch of the matrix gets the blocks in order, from one member at a time.
  // The job that adds the last panel of a chunk also moves the patch to the sums.
  void run_panels(int threads) {
    PanelBuffer<T, P> buffers[2] = {panels_.make_buffer(), panels_.make_buffer()};
    std::vector<double> matrix(size_ * size_);
    const std::size_t of_chunk = ceil_divide(chunk_, panels_.columns());
    const std::size_t last = (chunks() - 1) * chunk_;
    const std::size_t count =
        (chunks() - 1) * of_chunk + ceil_divide(length_ - last, panels_.columns());
    const auto at = [&](std::size_t p) {
      const std::size_t first = std::min(length_, p / of_chunk * chunk_);
      return panel(first, std::min(length_, first + chunk_), p % of_chunk);
    };
    const auto origins = [&](std::size_t stage) {
      return stage < count ? panels_.origin_jobs(at(stage)) : 0;
    };
    const auto packs = [&](std::size_t stage) {
      return stage >= 1 && stage <= count ? panels_.pack_jobs() : 0;
    };
    const auto products = [&](std::size_t stage) {
      return stage >= 2 ? panels_.patches().size() : 0;
    };
    run_stages(
        threads, count + 2,
        [&](std::size_t stage) { return origins(stage) + packs(stage) + products(stage); },
        [&](std::size_t stage, std::size_t job, int) {
          if (job < products(stage)) {
            const std::size_t p = stage - 2;
            panels_.multiply(at(p), job, at(stage), buffers[stage % 2], matrix);
            if (p + 1 == count || (p + 1) % of_chunk == 0) {
              add_patch(p / of_chunk, panels_.patches()[job], matrix);
            }
            return;
          }
          job -= products(stage);
          if (job < packs(stage)) {
            return panels_.pack(at(stage - 1), job, buffers[(stage - 1) % 2], sums_.bits);
          }
          panels_.form_origin(at(stage), job - packs(stage), buffers[stage % 2]);
        });
  }

  const GramPanels<T, P> panels_;
  std::size_t length_;
  std::size_t chunk_;  // columns
  bool add_chunks_;
  std::size_t size_;  // rows of the matrix of products
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
                    Precision precision, Columns columns, bool add_chunks) {
  return visit(rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (precision == Precision::kDouble)
      return GramRun<T, double>(machine, rows, origin, columns, add_chunks).run(machine);
    return GramRun<T, T>(machine, rows, origin, columns, add_chunks).run(machine);
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
