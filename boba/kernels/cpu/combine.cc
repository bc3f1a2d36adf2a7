// Weighted sums of rows, a tile of columns at a time with the sums in double in L1.
#include <atomic>

#include "boba/kernels/cpu/passes.h"
#include "boba/threads/team.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kTile = 4096;  // columns

template <class T>
OutputPass run(const Machine& machine, const UpdateView& rows, std::span<const double> weights,
               double keep, std::span<T> out) {
  const SimdKernels<T>& kernels = machine.kernels<T>();
  const WeightedRows<T> used(rows, weights);
  const std::size_t d = out.size();
  const int team = machine.team((used.rows.size() + 1) * d * sizeof(T));
  MemberBits bits(team, used.rows.size());
  std::atomic<bool> finite{true};
  run_jobs(team, ceil_divide(d, kTile), [&](std::size_t job, int member) {
    const std::size_t first = job * kTile;
    const std::size_t width = std::min(kTile, d - first);
    const std::size_t prefetch = first + 2 * kTile <= d ? kTile : 0;
    T* to = out.data() + first;
    double sum[kTile];
    if (keep == 0) {
      std::fill_n(sum, width, 0.0);
    } else {
      for (std::size_t k = 0; k < width; ++k) sum[k] = keep * static_cast<double>(to[k]);
    }
    kernels.accumulate(used.rows.data(), used.weights.data(), used.rows.size(), first, width,
                       prefetch, sum, bits.of(member));
    if (kernels.round(sum, width, to) >= kInfinityBits<T>) finite.store(false);
  });
  OutputPass pass;
  pass.finite = finite.load();
  pass.scan.resize(rows.rows());
  for (std::size_t r = 0; r < used.rows.size(); ++r) {
    pass.scan[used.index[r]] = scan_of<T>(bits.largest(r));
  }
  return pass;
}

}  // namespace

OutputPass combine(const Machine& machine, const UpdateView& rows, std::span<const double> weights,
                   double keep, MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(machine, rows, weights, keep, out.as<T>());
  });
}

}  // namespace boba::cpu
