// Means of order statistics, a tile of columns at a time.
//
// The tile holds sort keys, one line of columns per row, and a sorting network works on whole
// lines. With thousands of rows networks grow too long: each column is then partitioned by
// itself.
#include <atomic>
#include <cassert>
#include <limits>

#include "boba/kernels/cpu/network.h"
#include "boba/kernels/cpu/parallel.h"
#include "boba/kernels/cpu/passes.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kMostRowsOfNetwork = 1024;
constexpr std::size_t kTilesTogether = 4;                     // so that reads of a row are long
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;  // of all tiles together, if possible

template <class T>
T number_of(Int<T> key) {
  const Int<T> bits = key < 0 ? key ^ std::numeric_limits<Int<T>>::max() : key;
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// Where the tiles' rows come from.
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

  // Keys of columns [first, first + width): tile t has its row i at tiles + (t * rows + i) lines.
  void fill(std::size_t first, std::size_t width, std::size_t ahead, Int<T>* tiles,
            AbsBits* seen) const {
    const std::size_t step = rows() * kKeyColumns<T>;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!mixed_) {
        seen[i] = std::max(seen[i], kernels_.keys(rows_[i] + first, width, ahead,
                                                  tiles + i * kKeyColumns<T>, step));
      } else if (used_[i]) {
        seen[i] = std::max(seen[i], kernels_.scan(rows_[i] + first, width, ahead));
      }
    }
    if (!mixed_) return;
    for (std::size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i], ++i) {
      double sum[kTilesTogether * kKeyColumns<T>] = {};
      T row[kTilesTogether * kKeyColumns<T>];
      kernels_.accumulate(terms_.data() + begin, weights_.data() + begin, ends_[i] - begin, first,
                          width, 0, sum, nullptr);
      kernels_.round(sum, width, row);
      kernels_.keys(row, width, 0, tiles + i * kKeyColumns<T>, step);
    }
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

// The means of one tile without a network.
template <class T>
void partition_mean(const Int<T>* tile, std::size_t n, std::size_t first, std::size_t last,
                    std::size_t columns, std::vector<Int<T>>& column, double* mean) {
  column.resize(n);
  for (std::size_t k = 0; k < columns; ++k) {
    for (std::size_t i = 0; i < n; ++i) column[i] = tile[i * kKeyColumns<T> + k];
    const auto begin = column.begin();
    const auto from = begin + static_cast<std::ptrdiff_t>(first);
    const auto to = begin + static_cast<std::ptrdiff_t>(last);
    std::nth_element(begin, from, column.end());
    if (to != column.end()) std::nth_element(from, to, column.end());
    double sum = 0;
    for (auto it = from; it != to; ++it) sum += static_cast<double>(number_of<T>(*it));
    mean[k] = sum / static_cast<double>(last - first);
  }
}

template <class T>
OutputPass run(const Machine& machine, const UpdateView& view, const Mix* mix, std::size_t first,
               std::size_t last, std::span<T> out) {
  constexpr std::size_t kColumns = kKeyColumns<T>;
  const SimdKernels<T>& kernels = machine.kernels<T>();
  const Source<T> source(kernels, view, mix);
  const std::size_t n = source.rows();
  const std::size_t d = out.size();
  assert(first < last && last <= n);
  const bool network = n <= kMostRowsOfNetwork;
  const auto comparators =
      network ? selection_network(n, first, last, kernels.sorted_rows) : std::vector<Comparator>();
  const std::size_t tiles =
      std::clamp<std::size_t>(kBufferBytes / (n * kColumns * sizeof(T)), 1, kTilesTogether);
  const std::size_t piece = tiles * kColumns;
  const int team =
      std::min<int>(machine.team(view.rows() * d * sizeof(T) * 4),
                    static_cast<int>(std::min<std::size_t>(pieces(d, piece), 1 << 20)));
  MemberBits bits(team, view.rows());
  std::vector<std::vector<Int<T>>> buffers(static_cast<std::size_t>(team));
  std::vector<std::vector<Int<T>>> column(static_cast<std::size_t>(team));
  std::atomic<bool> finite{true};
  run_jobs(team, pieces(d, piece), [&](std::size_t job, int member) {
    auto& buffer = buffers[static_cast<std::size_t>(member)];
    buffer.resize(tiles * n * kColumns);
    const std::size_t begin = job * piece;
    const std::size_t width = std::min(piece, d - begin);
    source.fill(begin, width, begin + 2 * piece <= d ? piece : 0, buffer.data(), bits.of(member));
    for (std::size_t t = 0; t * kColumns < width; ++t) {
      Int<T>* tile = buffer.data() + t * n * kColumns;
      const std::size_t here = std::min(kColumns, width - t * kColumns);
      double mean[kColumns];
      if (network) {
        kernels.sort(tile, n, comparators.data(), comparators.size());
        kernels.key_mean(tile + first * kColumns, last - first, mean);
      } else {
        partition_mean<T>(tile, n, first, last, here, column[static_cast<std::size_t>(member)],
                          mean);
      }
      const AbsBits written = kernels.round(mean, here, out.data() + begin + t * kColumns);
      if (written >= kInfinityBits<T>) finite.store(false);
    }
  });
  OutputPass pass;
  pass.finite = finite.load();
  for (std::size_t i = 0; i < view.rows(); ++i) {
    pass.scan.push_back(scan_of<T>(bits.largest(i)));
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
