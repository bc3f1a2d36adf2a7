#include "boba/core/refusal.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace boba {

double largest_norm(DType dtype) {
  return dtype == DType::kFloat32 ? static_cast<double>(std::numeric_limits<float>::max())
                                  : 0x1p498;
}

std::vector<Refusal> refusals(const Kernels& kernels, const UpdateView& rows,
                              std::span<const RowScan> scan) {
  const double limit = largest_norm(rows.dtype());
  const double in_doubt = limit / std::sqrt(static_cast<double>(kernels.whole_length(rows)));
  std::vector<Refusal> refused;
  for (std::size_t i = 0; i < scan.size(); ++i) {
    if (!scan[i].finite) {
      refused.push_back({i, "refused: it contains NaN or infinity"});
      continue;
    }
    // Written so that NaN is in doubt.
    if (scan[i].max_abs <= in_doubt) continue;
    RowList one(rows.dtype(), rows.length());
    one.add(rows, i);
    const DotsPass norms = kernels.dots(one.view(), {}, {});
    if (norms.sq_norm[0] <= limit * limit) continue;
    refused.push_back({i, fmt::format("refused: its norm {:.3g} exceeds {:.3g}, the largest used "
                                      "with {}",
                                      std::sqrt(norms.sq_norm[0]), limit, name(rows.dtype()))});
  }
  return refused;
}

Result<void> check_server_rows(const Kernels& kernels, const UpdateView& rows) {
  if (rows.empty()) return {};
  const DotsPass pass = kernels.dots(rows, {}, {});
  const std::vector<Refusal> bad = refusals(kernels, rows, pass.scan);
  if (bad.empty()) return {};
  return invalid_argument(
      fmt::format("server gradient {} is {}", bad.front().row, bad.front().reason));
}

}  // namespace boba
