// Mean and standard deviation per coordinate. A tile of all rows stays in cache for the second
// pass over it, of squares about the mean: no cancellation, whatever the mean.
#include <atomic>
#include <cmath>

#include "boba/kernels/cpu/passes.h"
#include "boba/threads/team.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kTile = 512;  // columns at most

template <class T>
OutputPass run(const Machine& machine, const UpdateView& view, double mean_factor,
               double deviation_factor, std::span<T> out) {
  const SimdKernels<T>& kernels = machine.kernels<T>();
  const std::size_t n = view.rows();
  const std::size_t d = out.size();
  const std::vector<const T*> rows = row_pointers<T>(view);
  const std::vector<double> ones(n, 1.0);
  const int team = machine.team(n * d * sizeof(T));
  MemberBits bits(team, n);
  std::atomic<bool> finite{true};
  const Tiling<T> tiling(n, d, kTile);
  const bool deviation = n > 1 && deviation_factor != 0;
  run_jobs(team, tiling.jobs(), [&](std::size_t job, int member) {
    tiling.run(job, [&](std::size_t first, std::size_t width, std::size_t prefetch) {
      double mean[kTile] = {};
      double squares[kTile] = {};
      kernels.accumulate(rows.data(), ones.data(), n, first, width, prefetch, mean,
                         bits.of(member));
      for (std::size_t k = 0; k < width; ++k)
        mean[k] /= static_cast<double>(std::max<std::size_t>(n, 1));
      if (deviation) kernels.squares(rows.data(), n, first, width, mean, squares);
      for (std::size_t k = 0; k < width; ++k) {
        mean[k] *= mean_factor;
        if (deviation) {
          mean[k] += deviation_factor * std::sqrt(squares[k] / static_cast<double>(n - 1));
        }
      }
      if (kernels.round(mean, width, out.data() + first) >= kInfinityBits<T>) finite.store(false);
    });
  });
  OutputPass pass;
  pass.finite = finite.load();
  for (std::size_t i = 0; i < n; ++i) pass.scan.push_back(scan_of<T>(bits.largest(i)));
  return pass;
}

}  // namespace

OutputPass moments(const Machine& machine, const UpdateView& rows, double mean_factor,
                   double deviation_factor, MutableRow out) {
  return visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return run<T>(machine, rows, mean_factor, deviation_factor, out.as<T>());
  });
}

}  // namespace boba::cpu
