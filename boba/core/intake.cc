#include "boba/core/intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boba/core/rule.h"
#include "boba/text/printable.h"

namespace boba {

Intake::Intake(const Round& round) : refused(round.refused.begin(), round.refused.end()) {
  std::vector<bool> gone(round.updates.rows(), false);
  for (const Refusal& refusal : refused) gone[refusal.row] = true;
  for (std::size_t i : repeated_ids(round.ids)) {
    repeated.push_back({i, fmt::format("refused: an earlier update carries the id '{}' too; only "
                                       "a client's first counts",
                                       printable(round.ids[i]))});
    gone[i] = true;
  }
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) kept.push_back(i);
  }
}

RowList Intake::rows(const Round& round) const {
  RowList list(round.updates.dtype(), round.updates.length());
  for (std::size_t i : kept) list.add(round.updates, i);
  return list;
}

std::vector<std::size_t> Intake::refuse(std::span<const Refusal> positions) {
  std::vector<bool> drop(kept.size(), false);
  for (const Refusal& refusal : positions) {
    drop[refusal.row] = true;
    refused.push_back({kept[refusal.row], refusal.reason});
  }
  std::vector<std::size_t> stay;
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (drop[i]) continue;
    stay.push_back(i);
    rest.push_back(kept[i]);
  }
  kept = std::move(rest);
  std::sort(refused.begin(), refused.end(),
            [](const Refusal& a, const Refusal& b) { return a.row < b.row; });
  return stay;
}

std::size_t Intake::tolerated(int f) const { return Shape{.refused = refused.size()}.tolerated(f); }

Error Intake::nothing_left() const {
  return {ErrorCode::kRefused,
          fmt::format("all {} updates were refused; client {}: {}", refused.size(),
                      refused.front().row, refused.front().reason)};
}

}  // namespace boba
