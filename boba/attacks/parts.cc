#include "boba/attacks/parts.h"

#include <fmt/format.h>

#include <algorithm>
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

void send_first_to_all(std::span<const MutableRow> out) {
  if (out.empty()) return;
  visit(out[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::span<const T> first = out[0].as<T>();
    for (const MutableRow& row : out.subspan(1)) {
      std::copy(first.begin(), first.end(), row.as<T>().begin());
    }
  });
}

void send_constant(std::span<const MutableRow> out, double value) {
  for (const MutableRow& row : out) {
    visit(row.dtype(), [&](auto zero) {
      using T = decltype(zero);
      std::ranges::fill(row.as<T>(), static_cast<T>(value));
    });
  }
}

AttackReport report(std::vector<Measure> measures, const OutputPass& pass) {
  if (!pass.finite) measures.push_back({"overflow", 1});
  return {std::move(measures)};
}

}  // namespace boba
