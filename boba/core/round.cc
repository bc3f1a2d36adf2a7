#include "boba/core/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "boba/core/size.h"

namespace boba {
namespace {

Result<void> same_kind(const UpdateView& updates, const UpdateView& other, std::string_view what) {
  if (other.empty()) return {};
  if (other.length() != updates.length()) {
    return invalid_argument(fmt::format("round: {} has length {}, the updates have length {}", what,
                                        other.length(), updates.length()));
  }
  if (other.dtype() != updates.dtype()) {
    return invalid_argument(fmt::format("round: {} is {}, the updates are {}; both must be alike",
                                        what, name(other.dtype()), name(updates.dtype())));
  }
  return {};
}

// What is known of a round that was filled as updates arrived.
Result<void> check_known(const Round& round) {
  const std::size_t n = round.updates.rows();
  for (std::size_t k = 0; k < round.refused.size(); ++k) {
    const std::size_t row = round.refused[k].row;
    if (row >= n) {
      return invalid_argument(
          fmt::format("round: row {} is among the refused; there are {} updates", row, n));
    }
    if (k > 0 && row <= round.refused[k - 1].row) {
      return invalid_argument(fmt::format("round: refused rows must rise; {} comes after {}", row,
                                          round.refused[k - 1].row));
    }
  }
  const std::size_t all = n + round.server.rows();
  if (!round.products.empty() && round.products.size() != all * all) {
    return invalid_argument(
        fmt::format("round: {} products; {} updates and {} server gradients "
                    "have {} by {}",
                    round.products.size(), n, round.server.rows(), all, all));
  }
  return {};
}

}  // namespace

Result<void> ServerOracle::losses(const UpdateView& points, std::span<double> out) {
  for (std::size_t i = 0; i < points.rows(); ++i) {
    RowList point(points.dtype(), points.length());
    point.add(points, i);
    const Result<double> at = loss(point.view());
    if (!at) return at.error();
    out[i] = *at;
  }
  return {};
}

Result<void> check(const Round& round) {
  if (round.updates.empty()) {
    return invalid_argument("round: no updates came; at least one is needed");
  }
  if (round.updates.length() == 0) return invalid_argument("round: the updates have length 0");
  if (Result<void> good =
          check_size("round", round.updates.dtype(), round.updates.rows() + round.server.rows(),
                     round.updates.length());
      !good) {
    return good;
  }
  if (!round.ids.empty() && round.ids.size() != round.updates.rows()) {
    return invalid_argument(
        fmt::format("round: {} client ids for {} updates", round.ids.size(), round.updates.rows()));
  }
  if (round.server_whole.rows() > 1 || round.model.rows() > 1) {
    return invalid_argument("round: server_whole and model are single rows");
  }
  for (const auto& [view, what] : {std::pair{&round.server, "a server gradient"},
                                   std::pair{&round.server_whole, "the whole server gradient"},
                                   std::pair{&round.model, "the model"}}) {
    if (Result<void> alike = same_kind(round.updates, *view, what); !alike) return alike;
  }
  if (!round.server_counts.empty()) {
    if (round.server_counts.size() != round.server.rows()) {
      return invalid_argument(fmt::format("round: {} server counts for {} server gradients",
                                          round.server_counts.size(), round.server.rows()));
    }
    for (double count : round.server_counts) {
      if (!(count > 0) || !std::isfinite(count)) {
        return invalid_argument(
            fmt::format("round: a server count is {}; counts are positive numbers", count));
      }
    }
  }
  return check_known(round);
}

std::vector<std::size_t> repeated_ids(std::span<const std::string> ids) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::size_t> repeated;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].empty() && !seen.insert(ids[i]).second) repeated.push_back(i);
  }
  return repeated;
}

std::vector<double> server_shares(const Round& round) {
  const std::size_t c = round.server.rows();
  std::vector<double> shares(c, c == 0 ? 0.0 : 1.0 / static_cast<double>(c));
  if (round.server_counts.empty()) return shares;
  // Relative to the largest, so that the sum cannot overflow.
  const double most = *std::max_element(round.server_counts.begin(), round.server_counts.end());
  double sum = 0;
  for (double count : round.server_counts) sum += count / most;
  for (std::size_t z = 0; z < c; ++z) shares[z] = round.server_counts[z] / most / sum;
  return shares;
}

}  // namespace boba
