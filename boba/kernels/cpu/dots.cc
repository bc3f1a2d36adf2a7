// Norms and products with one reference, in one pass.
//
// Each chunk of columns has its own sums, which are added in order at the end: the square and the
// product of every row, and the square of the reference. The reference is formed tile by tile.
#include <limits>

#include "boba/kernels/cpu/passes.h"
#include "boba/threads/team.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kTile = 4096;  // columns

// Several partial sums, so that additions need not wait for each other.
double sum_of_squares(const double* x, std::size_t width) {
  constexpr std::size_t kChains = 8;
  double sums[kChains] = {};
  std::size_t k = 0;
  for (; k + kChains <= width; k += kChains) {
    for (std::size_t c = 0; c < kChains; ++c) sums[c] += x[k + c] * x[k + c];
  }
  double sum = 0;
  for (; k < width; ++k) sum += x[k] * x[k];
  for (double chain : sums) sum += chain;
  return sum;
}

template <class T>
ChunkSums run(const Machine& machine, const UpdateView& view, const UpdateView& reference_view,
              std::span<const double> weights, Columns columns) {
  const SimdKernels<T>& kernels = machine.kernels<T>();
  const std::size_t n = view.rows();
  const std::size_t d = view.length();
  const std::vector<const T*> rows = row_pointers<T>(view);
  const WeightedRows<T> reference(reference_view, weights);
  const bool products = reference_view.rows() != 0;
  const std::size_t chunk = chunk_columns(columns.whole);
  const std::size_t chunks = ceil_divide(d, chunk);
  const int team = machine.team((n + reference.rows.size()) * d * sizeof(T));
  MemberBits bits(team, n);
  ChunkSums result;
  result.width = 2 * n + 1;
  result.values.resize(chunks * result.width);
  run_jobs(team, chunks, [&](std::size_t job, int member) {
    AbsBits* seen = bits.of(member);
    std::vector<RowSums> sums(n);
    double* to = result.values.data() + job * result.width;
    const std::size_t end = std::min(d, (job + 1) * chunk);
    for (std::size_t first = job * chunk; first < end; first += kTile) {
      const std::size_t width = std::min(kTile, end - first);
      const std::size_t prefetch = first + 2 * kTile <= d ? kTile : 0;
      double r[kTile];
      if (products) {
        std::fill_n(r, width, 0.0);
        kernels.accumulate(reference.rows.data(), reference.weights.data(), reference.rows.size(),
                           first, width, 0, r, nullptr);
        to[2 * n] += sum_of_squares(r, width);
      }
      kernels.dots(rows.data(), n, first, products ? r : nullptr, width, prefetch, sums.data(),
                   seen);
    }
    for (std::size_t i = 0; i < n; ++i) {
      to[2 * i] = sums[i].square;
      to[2 * i + 1] = sums[i].product;
    }
  });
  for (std::size_t i = 0; i < n; ++i) result.bits.push_back(bits.largest(i));
  return result;
}

}  // namespace

ChunkSums dots_sums(const Machine& machine, const UpdateView& rows, const UpdateView& reference,
                    std::span<const double> weights, Columns columns) {
  return visit(rows.dtype(), [&](auto zero) {
    return run<decltype(zero)>(machine, rows, reference, weights, columns);
  });
}

DotsPass dots_pass(const UpdateView& rows, bool products, std::span<const double> total,
                   std::span<const AbsBits> bits) {
  const std::size_t n = rows.rows();
  DotsPass pass;
  pass.reference_sq = total[2 * n];
  for (std::size_t i = 0; i < n; ++i) {
    pass.scan.push_back(
        visit(rows.dtype(), [&](auto zero) { return scan_of<decltype(zero)>(bits[i]); }));
    const bool finite = pass.scan[i].finite;
    pass.sq_norm.push_back(finite ? total[2 * i] : std::numeric_limits<double>::infinity());
    if (products) pass.dot.push_back(finite ? total[2 * i + 1] : 0);
  }
  return pass;
}

DotsPass dots(const Machine& machine, const UpdateView& rows, const UpdateView& reference,
              std::span<const double> weights) {
  const ChunkSums sums = dots_sums(machine, rows, reference, weights, {rows.length(), 0});
  return dots_pass(rows, reference.rows() != 0, sums.total(), sums.bits);
}

}  // namespace boba::cpu
