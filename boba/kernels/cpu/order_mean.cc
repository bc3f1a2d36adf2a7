// Means of order statistics, a tile of columns at a time.
//
// The tile holds sort keys, one line of columns per row. A sorting network works on whole lines, or
// on blocks of lines. For more than 1024 rows networks are too long, and each column is partitioned
// by itself.
#include <atomic>
#include <cassert>
#include <cstdint>
#include <limits>

#include "boba/kernels/cpu/network.h"
#include "boba/kernels/cpu/passes.h"
#include "boba/threads/team.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kMostRowsOfNetwork = 1024;
constexpr std::size_t kPrefetchBytes = 512;  // of a row: with more, 1,000 rows would not fit L2

// Columns of a job.
template <class T>
constexpr std::size_t kJob = 4 * kKeyColumns<T>;

template <class T>
T number_of(Int<T> key) {
  const Int<T> bits = key < 0 ? key ^ std::numeric_limits<Int<T>>::max() : key;
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// Memory for keys, aligned to cache lines: a vector across two lines takes twice as long.
template <class T>
class KeyLines {
 public:
  explicit KeyLines(std::size_t lines) : memory_(lines * kKeyColumns<T> + 64 / sizeof(T)) {
    while (reinterpret_cast<std::uintptr_t>(memory_.data() + skip_) % 64 != 0) ++skip_;
  }
  Int<T>* line(std::size_t i) { return memory_.data() + skip_ + i * kKeyColumns<T>; }

 private:
  std::vector<Int<T>> memory_;
  std::size_t skip_ = 0;
};

// The largest absolute value of each row, as bits, among the columns of one member.
template <class T>
class RowMaxima {
 public:
  explicit RowMaxima(std::size_t rows) : lanes_(rows), bits_(rows) {}

  Int<T>* lanes(std::size_t i) { return lanes_.line(i); }
  void raise(std::size_t i, AbsBits bits) { bits_[i] = std::max(bits_[i], bits); }

  AbsBits largest(std::size_t i) {
    AbsBits largest = bits_[i];
    for (std::size_t k = 0; k < kKeyColumns<T>; ++k) {
      largest = std::max(largest, static_cast<AbsBits>(lanes_.line(i)[k]));
    }
    return largest;
  }

 private:
  KeyLines<T> lanes_;  // of columns that were read in whole vectors, lane by lane
  std::vector<AbsBits> bits_;
};

// The memory that one member of the team works in.
template <class T>
struct Workspace {
  Workspace(std::size_t rows, std::size_t mixed_row_count, std::size_t tile_rows)
      : maxima(rows), mixed_maxima(mixed_row_count), tile(tile_rows) {}

  RowMaxima<T> maxima;        // of the updates
  RowMaxima<T> mixed_maxima;  // of mixed rows; never read
  KeyLines<T> tile;
  std::vector<T> mixed;
  std::vector<const T*> mixed_rows;
  std::vector<Int<T>> column;
};

// The rows that a job sorts, from column `first` on.
template <class T>
struct JobRows {
  const T* const* rows;
  std::size_t first;
  RowMaxima<T>& maxima;
};

// The updates, or mixtures of them.
template <class T>
class RowSource {
 public:
  RowSource(const SimdKernels<T>& kernels, const UpdateView& view, const Mix* mix)
      : kernels_(kernels), rows_(row_pointers<T>(view)), mixed_(mix != nullptr) {
    if (!mixed_) return;
    used_.resize(rows_.size());
    for (std::size_t i = 0; i < mix->rows(); ++i) {
      for (const Mix::Term& term : mix->terms(i)) {
        if (term.weight == 0) continue;
        terms_.push_back(rows_[term.row]);
        weights_.push_back(term.weight);
        used_[term.row] = true;
      }
      ends_.push_back(terms_.size());
    }
  }

  std::size_t rows() const { return mixed_ ? ends_.size() : rows_.size(); }
  bool mixed() const { return mixed_; }

  // Columns [first, first + width), at most kJob<T> of them.
  JobRows<T> job(std::size_t first, std::size_t width, std::size_t prefetch,
                 Workspace<T>& workspace) const {
    if (!mixed_) return {rows_.data(), first, workspace.maxima};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (used_[i]) workspace.maxima.raise(i, kernels_.scan(rows_[i] + first, width, prefetch));
    }
    workspace.mixed.resize(ends_.size() * kJob<T>);
    workspace.mixed_rows.resize(ends_.size());
    for (std::size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i], ++i) {
      double sum[kJob<T>] = {};
      kernels_.accumulate(terms_.data() + begin, weights_.data() + begin, ends_[i] - begin, first,
                          width, 0, sum, nullptr);
      T* row = workspace.mixed.data() + i * kJob<T>;
      kernels_.round(sum, width, row);
      workspace.mixed_rows[i] = row;
    }
    return {workspace.mixed_rows.data(), 0, workspace.mixed_maxima};
  }

 private:
  const SimdKernels<T>& kernels_;
  std::vector<const T*> rows_;
  bool mixed_;
  std::vector<const T*> terms_;  // of all mixed rows, one after the other
  std::vector<double> weights_;
  std::vector<std::size_t> ends_;
  std::vector<bool> used_;
};

// Puts the keys of `width` columns in a tile. Where a network follows, whole blocks of rows are
// sorted.
template <class T>
void fill(const SimdKernels<T>& kernels, const JobRows<T>& from, std::size_t n, std::size_t width,
          std::size_t prefetch, KeyLines<T>& tile) {
  const bool sorted = n <= kMostRowsOfNetwork;
  const std::size_t whole = sorted ? n / kernels.sorted_rows * kernels.sorted_rows : 0;
  std::size_t i = 0;
  if (width == kKeyColumns<T>) {
    for (; i < whole; i += kernels.sorted_rows) {
      kernels.sorted_keys(from.rows + i, from.first, prefetch, tile.line(i), from.maxima.lanes(i));
    }
  }
  for (std::size_t r = i; r < n; ++r) {
    from.maxima.raise(r, kernels.keys(from.rows[r] + from.first, width, prefetch, tile.line(r)));
  }
  for (; i < whole; i += kernels.sorted_rows) kernels.sort_block(tile.line(i));
}

// Computes the means of a tile that fill() has filled.
template <class T>
class Selection {
 public:
  Selection(const SimdKernels<T>& kernels, std::size_t n, std::size_t first, std::size_t last)
      : kernels_(kernels), n_(n), first_(first), last_(last) {
    if (n > kMostRowsOfNetwork) return;
    comparators_ = selection_network(n, first, last, kernels.sorted_rows);
    BlockNetwork blocks = block_network(n, first, last, kernels.sorted_rows);
    const double single = kernels.cost_in_memory * static_cast<double>(comparators_.size());
    if (static_cast<double>(blocks.work) < single) blocks_ = std::move(blocks);
  }

  // Rows that the tile needs.
  std::size_t rows() const { return std::max(n_, blocks_.rows); }

  void means(Workspace<T>& workspace, std::size_t columns, double* mean) const {
    if (n_ > kMostRowsOfNetwork) return partition(workspace, columns, mean);
    if (blocks_.rows > 0) {
      pad(workspace.tile);
      kernels_.compare_blocks(workspace.tile.line(0), blocks_.steps.data(), blocks_.steps.size());
    } else {
      kernels_.compare_rows(workspace.tile.line(0), comparators_.data(), comparators_.size());
    }
    kernels_.key_mean(workspace.tile.line(blocks_.below + first_), last_ - first_, mean);
  }

 private:
  // Fills the tile up to whole blocks.
  void pad(KeyLines<T>& tile) const {
    if (n_ == blocks_.rows) return;
    Int<T>* largest = std::fill_n(tile.line(n_), blocks_.below * kKeyColumns<T>,
                                  std::numeric_limits<Int<T>>::min());
    std::fill(largest, tile.line(blocks_.rows), std::numeric_limits<Int<T>>::max());
    kernels_.sort_block(tile.line(blocks_.rows - kernels_.sorted_rows));
  }

  void partition(Workspace<T>& workspace, std::size_t columns, double* mean) const {
    std::vector<Int<T>>& column = workspace.column;
    column.resize(n_);
    for (std::size_t k = 0; k < columns; ++k) {
      for (std::size_t i = 0; i < n_; ++i) column[i] = workspace.tile.line(i)[k];
      const auto begin = column.begin();
      const auto from = begin + static_cast<std::ptrdiff_t>(first_);
      const auto to = begin + static_cast<std::ptrdiff_t>(last_);
      std::nth_element(begin, from, column.end());
      if (to != column.end()) std::nth_element(from, to, column.end());
      double sum = 0;
      for (auto it = from; it != to; ++it) sum += static_cast<double>(number_of<T>(*it));
      mean[k] = sum / static_cast<double>(last_ - first_);
    }
  }

  const SimdKernels<T>& kernels_;
  std::size_t n_;
  std::size_t first_;
  std::size_t last_;
  std::vector<Comparator> comparators_;
  BlockNetwork blocks_;  // no rows: not used
};

template <class T>
OutputPass run(const Machine& machine, const UpdateView& view, const Mix* mix, std::size_t first,
               std::size_t last, std::span<T> out) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
  constexpr std::size_t kPrefetch = kPrefetchBytes / sizeof(T);
  const SimdKernels<T>& kernels = machine.kernels<T>();
  const RowSource<T> source(kernels, view, mix);
  const std::size_t n = source.rows();
  const std::size_t d = out.size();
  assert(first < last && last <= n);
  const Selection<T> selection(kernels, n, first, last);
  const auto most = static_cast<int>(std::clamp<std::size_t>(ceil_divide(d, kJob<T>), 1, 1 << 20));
  const int team = std::min(machine.team(view.rows() * d * sizeof(T) * 4), most);
  std::vector<Workspace<T>> workspaces;
  workspaces.reserve(static_cast<std::size_t>(team));
  for (int member = 0; member < team; ++member) {
    workspaces.emplace_back(view.rows(), source.mixed() ? n : 0, selection.rows());
  }
  std::atomic<bool> finite{true};
  run_jobs(team, ceil_divide(d, kJob<T>), [&](std::size_t job, int member) {
    Workspace<T>& workspace = workspaces[static_cast<std::size_t>(member)];
    const std::size_t begin = job * kJob<T>;
    const std::size_t end = std::min(d, begin + kJob<T>);
    const std::size_t next_job = end + kJob<T> <= d ? kJob<T> : 0;
    JobRows<T> rows = source.job(begin, end - begin, next_job, workspace);
    for (std::size_t at = begin; at < end; at += kColumns, rows.first += kColumns) {
      const std::size_t width = std::min(kColumns, end - at);
      const std::size_t prefetch =
          !source.mixed() && at + kPrefetch + kColumns <= d ? kPrefetch : 0;
      double mean[kColumns];
      fill(kernels, rows, n, width, prefetch, workspace.tile);
      selection.means(workspace, width, mean);
      const AbsBits written = kernels.round(mean, width, out.data() + at);
      if (written >= kInfinityBits<T>) finite.store(false);
    }
  });
  OutputPass pass;
  pass.finite = finite.load();
  for (std::size_t i = 0; i < view.rows(); ++i) {
    AbsBits largest = 0;
    for (Workspace<T>& workspace : workspaces)
      largest = std::max(largest, workspace.maxima.largest(i));
    pass.scan.push_back(scan_of<T>(largest));
  }
  return pass;
}

}  // namespace

OutputPass order_mean(const Machine& machine, const UpdateView& rows, const Mix* mix,
                      std::size_t first, std::size_t last, MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(machine, rows, mix, first, last, out.as<T>());
  });
}

}  // namespace boba::cpu
