#include "boba/attacks/parts.h"

#include <fmt/format.h>

#include <utility>

namespace boba {

Result<void> needs_honest(std::string_view attack, const UpdateView& honest) {
  if (!honest.empty()) return {};
  return invalid_argument(fmt::format("{} needs at least 1 honest update; got none", attack));
}

Result<void> needs_finite(std::string_view attack, std::span<const RowScan> scan) {
  for (std::size_t i = 0; i < scan.size(); ++i) {
    if (scan[i].finite) continue;
    return invalid_argument(
        fmt::format("{} needs finite honest updates; row {} has NaN or infinity", attack, i));
  }
  return {};
}

void send_first_to_all(const Kernels& kernels, std::span<const MutableRow> out) {
  if (out.empty()) return;
  RowList first(out[0].dtype(), out[0].length());
  first.add(out[0]);
  for (const MutableRow& row : out.subspan(1)) kernels.copy(first.view(), 0, row);
}

AttackReport report(std::vector<NamedValue> measures, const OutputPass& pass) {
  if (!pass.finite) measures.push_back({"overflow", 1});
  return {std::move(measures)};
}

}  // namespace boba
