// Norms and products with one reference, in one pass.
//
// Columns are cut into chunks by d alone; each chunk has sums of its own, added in order at the
// end. The reference exists a tile at a time.
#include <limits>

#include "boba/kernels/cpu/parallel.h"
#include "boba/kernels/cpu/passes.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kTile = 4096;  // columns
constexpr std::size_t kChunkUnit = kTile;
constexpr std::size_t kMostChunks = 256;

// Sums that do not wait for each other.
double sum_of_squares(const double* x, std::size_t width) {
  constexpr std::size_t kChains = 8;
  double sums[kChains] = {};
  std::size_t k = 0;
  for (; k + kChains <= width; k += kChains) {
    for (std::size_t c = 0; c < kChains; ++c) sums[c] += x[k + c] * x[k + c];
  }
  double sum = 0;
  for (; k < width; ++k) sum += x[k] * x[k];
  for (double part : sums) sum += part;
  return sum;
}

template <class T>
DotsPass run(const Machine& machine, const UpdateView& view, const UpdateView& reference_view,
             std::span<const double> weights) {
  const SimdKernels<T>& kernels = machine.kernels<T>();
  const std::size_t n = view.rows();
  const std::size_t d = view.length();
  const std::vector<const T*> rows = row_pointers<T>(view);
  const WeightedRows<T> reference(reference_view, weights);
  const bool products = reference_view.rows() != 0;
  const std::size_t chunk =
      kChunkUnit * std::max<std::size_t>(1, pieces(d, kChunkUnit * kMostChunks));
  const std::size_t chunks = pieces(d, chunk);
  const int team = machine.team((n + reference.rows.size()) * d * sizeof(T));
  MemberBits bits(team, n);
  std::vector<RowSums> sums(chunks * n);
  std::vector<double> reference_squares(chunks);
  run_jobs(team, chunks, [&](std::size_t job, int member) {
    AbsBits* seen = bits.of(member);
    RowSums* to = sums.data() + job * n;
    const std::size_t end = std::min(d, (job + 1) * chunk);
    for (std::size_t first = job * chunk; first < end; first += kTile) {
      const std::size_t width = std::min(kTile, end - first);
      const std::size_t ahead = first + 2 * kTile <= d ? kTile : 0;
      double r[kTile];
      if (products) {
        std::fill_n(r, width, 0.0);
        kernels.accumulate(reference.rows.data(), reference.weights.data(), reference.rows.size(),
                           first, width, 0, r, nullptr);
        reference_squares[job] += sum_of_squares(r, width);
      }
      kernels.dots(rows.data(), n, first, products ? r : nullptr, width, ahead, to, seen);
    }
  });

  DotsPass pass;
  pass.sq_norm.assign(n, 0.0);
  if (products) pass.dot.assign(n, 0.0);
  for (std::size_t c = 0; c < chunks; ++c) {
    pass.reference_sq += reference_squares[c];
    for (std::size_t i = 0; i < n; ++i) {
      pass.sq_norm[i] += sums[c * n + i].square;
      if (products) pass.dot[i] += sums[c * n + i].product;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    pass.scan.push_back(scan_of<T>(bits.largest(i)));
    if (pass.scan[i].finite) continue;
    pass.sq_norm[i] = std::numeric_limits<double>::infinity();
    if (products) pass.dot[i] = 0;
  }
  return pass;
}

}  // namespace

DotsPass dots(const Machine& machine, const UpdateView& rows, const UpdateView& reference,
              std::span<const double> weights) {
  return visit(rows.dtype(),
               [&](auto zero) { return run<decltype(zero)>(machine, rows, reference, weights); });
}

}  // namespace boba::cpu
