// Means of order statistics, a tile of columns at a time.
//
// The tile holds sort keys, one line of columns per row, and a sorting network works on whole
// lines, or on blocks of them. With thousands of rows networks grow too long: each column is then
// partitioned by itself.
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
constexpr std::size_t kAheadBytes = 512;  // of a row: with more, 1,000 rows would not fit L2

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

// Memory for keys, aligned to cache lines: vectors across two lines take twice as long.
template <class T>
class Lines {
 public:
  explicit Lines(std::size_t lines) : memory_(lines * kKeyColumns<T> + 64 / sizeof(T)) {
    while (reinterpret_cast<std::uintptr_t>(memory_.data() + skip_) % 64 != 0) ++skip_;
  }
  Int<T>* line(std::size_t i) { return memory_.data() + skip_ + i * kKeyColumns<T>; }

 private:
  std::vector<Int<T>> memory_;
  std::size_t skip_ = 0;
};

// The largest bits of each row that one member has seen.
template <class T>
class SeenRows {
 public:
  explicit SeenRows(std::size_t rows) : lanes_(rows), bits_(rows) {}

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
  Lines<T> lanes_;  // of whole vectors,
  std::vector<AbsBits> bits_;
};

// What one member of the team works with.
template <class T>
struct Desk {
  Desk(std::size_t rows, std::size_t sorted_rows, std::size_t tile_rows)
      : seen(rows), sorted_seen(sorted_rows), tile(tile_rows) {}

  SeenRows<T> seen;         // of the updates
  SeenRows<T> sorted_seen;  // of mixed rows: nobody asks
  Lines<T> tile;
  std::vector<T> mixed;
  std::vector<const T*> mixed_rows;
  std::vector<Int<T>> column;
};

// Rows to sort, from column `first` on.
template <class T>
struct RowsOfJob {
  const T* const* rows;
  std::size_t first;
  SeenRows<T>& seen;
};

// The updates, or mixtures of them.
template <class T>
class Source {
 public:
  Source(const SimdKernels<T>& kernels, const UpdateView& view, const Mix* mix)
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
  RowsOfJob<T> job(std::size_t first, std::size_t width, std::size_t ahead, Desk<T>& desk) const {
    if (!mixed_) return {rows_.data(), first, desk.seen};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (used_[i]) desk.seen.raise(i, kernels_.scan(rows_[i] + first, width, ahead));
    }
    desk.mixed.resize(ends_.size() * kJob<T>);
    desk.mixed_rows.resize(ends_.size());
    for (std::size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i], ++i) {
      double sum[kJob<T>] = {};
      kernels_.accumulate(terms_.data() + begin, weights_.data() + begin, ends_[i] - begin, first,
                          width, 0, sum, nullptr);
      T* row = desk.mixed.data() + i * kJob<T>;
      kernels_.round(sum, width, row);
      desk.mixed_rows[i] = row;
    }
    return {desk.mixed_rows.data(), 0, desk.sorted_seen};
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

// Puts the keys of `width` columns in a tile, whole blocks of rows sorted where a network follows.
template <class T>
void fill(const SimdKernels<T>& kernels, const RowsOfJob<T>& from, std::size_t n, std::size_t width,
          std::size_t ahead, Lines<T>& tile) {
  const bool sorted = n <= kMostRowsOfNetwork;
  const std::size_t whole = sorted ? n / kernels.sorted_rows * kernels.sorted_rows : 0;
  std::size_t i = 0;
  if (width == kKeyColumns<T>) {
    for (; i < whole; i += kernels.sorted_rows) {
      kernels.sorted_keys(from.rows + i, from.first, ahead, tile.line(i), from.seen.lanes(i));
    }
  }
  for (std::size_t r = i; r < n; ++r) {
    from.seen.raise(r, kernels.keys(from.rows[r] + from.first, width, ahead, tile.line(r)));
  }
  for (; i < whole; i += kernels.sorted_rows) kernels.sort_block(tile.line(i));
}

// Takes the means of a tile that was filled as above.
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

  // Of the tile.
  std::size_t rows() const { return std::max(n_, blocks_.rows); }

  void means(Desk<T>& desk, std::size_t columns, double* mean) const {
    if (n_ > kMostRowsOfNetwork) return partition(desk, columns, mean);
    if (blocks_.rows > 0) {
      fill_up(desk.tile);
      kernels_.compare_blocks(desk.tile.line(0), blocks_.steps.data(), blocks_.steps.size());
    } else {
      kernels_.compare_rows(desk.tile.line(0), comparators_.data(), comparators_.size());
    }
    kernels_.key_mean(desk.tile.line(blocks_.below + first_), last_ - first_, mean);
  }

 private:
  void fill_up(Lines<T>& tile) const {
    if (n_ == blocks_.rows) return;
    Int<T>* largest = std::fill_n(tile.line(n_), blocks_.below * kKeyColumns<T>,
                                  std::numeric_limits<Int<T>>::min());
    std::fill(largest, tile.line(blocks_.rows), std::numeric_limits<Int<T>>::max());
    kernels_.sort_block(tile.line(blocks_.rows - kernels_.sorted_rows));
  }

  void partition(Desk<T>& desk, std::size_t columns, double* mean) const {
    std::vector<Int<T>>& column = desk.column;
    column.resize(n_);
    for (std::size_t k = 0; k < columns; ++k) {
      for (std::size_t i = 0; i < n_; ++i) column[i] = desk.tile.line(i)[k];
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
  constexpr std::size_t kAhead = kAheadBytes / sizeof(T);
  const SimdKernels<T>& kernels = machine.kernels<T>();
  const Source<T> source(kernels, view, mix);
  const std::size_t n = source.rows();
  const std::size_t d = out.size();
  assert(first < last && last <= n);
  const Selection<T> selection(kernels, n, first, last);
  const auto most = static_cast<int>(std::clamp<std::size_t>(pieces(d, kJob<T>), 1, 1 << 20));
  const int team = std::min(machine.team(view.rows() * d * sizeof(T) * 4), most);
  std::vector<Desk<T>> desks;
  desks.reserve(static_cast<std::size_t>(team));
  for (int member = 0; member < team; ++member) {
    desks.emplace_back(view.rows(), source.mixed() ? n : 0, selection.rows());
  }
  std::atomic<bool> finite{true};
  run_jobs(team, pieces(d, kJob<T>), [&](std::size_t job, int member) {
    Desk<T>& desk = desks[static_cast<std::size_t>(member)];
    const std::size_t begin = job * kJob<T>;
    const std::size_t end = std::min(d, begin + kJob<T>);
    const std::size_t next_job = end + kJob<T> <= d ? kJob<T> : 0;
    RowsOfJob<T> rows = source.job(begin, end - begin, next_job, desk);
    for (std::size_t at = begin; at < end; at += kColumns, rows.first += kColumns) {
      const std::size_t width = std::min(kColumns, end - at);
      const std::size_t ahead = !source.mixed() && at + kAhead + kColumns <= d ? kAhead : 0;
      double mean[kColumns];
      fill(kernels, rows, n, width, ahead, desk.tile);
      selection.means(desk, width, mean);
      const AbsBits written = kernels.round(mean, width, out.data() + at);
      if (written >= kInfinityBits<T>) finite.store(false);
    }
  });
  OutputPass pass;
  pass.finite = finite.load();
  for (std::size_t i = 0; i < view.rows(); ++i) {
    AbsBits largest = 0;
    for (Desk<T>& desk : desks) largest = std::max(largest, desk.seen.largest(i));
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
