#include "boba/rules/avgrej.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "boba/rules/select.h"

namespace boba {
namespace {

// A row whose norm exceeds the median norm by this factor stays out of the held sum: taking it off
// again would leave its rounding errors, as large as the other rows, in the sum.
constexpr double kHuge = 32;

std::vector<bool> huge_rows(std::span<const double> sq_norms) {
  std::vector<double> sorted(sq_norms.begin(), sq_norms.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  std::vector<bool> huge(sq_norms.size());
  for (std::size_t i = 0; i < huge.size(); ++i) huge[i] = sq_norms[i] > kHuge * kHuge * *middle;
  return huge;
}

// The loss at w - eta * (mean of the others), for each client.
Result<std::vector<double>> losses_without(RowSpace& rows) {
  const std::size_t n = rows.shape().clients;
  const std::vector<bool> huge = huge_rows(rows.sq_norms());
  std::vector<double> in_sum(n);
  for (std::size_t i = 0; i < n; ++i) in_sum[i] = huge[i] ? 0 : 1;
  if (Result<void> held = rows.hold(in_sum); !held) return held.error();

  const double share = 1 / static_cast<double>(n - 1);
  std::vector<std::vector<RowSpace::Term>> steps(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!huge[i]) steps[i].push_back({i, -share});
    for (std::size_t j = 0; j < n; ++j) {
      if (huge[j] && j != i) steps[i].push_back({j, share});
    }
  }
  return rows.losses(share, steps);
}

class AvgRej final : public Rule {
 public:
  explicit AvgRej(const AvgrejOptions& options) : options_(options) {}

  Need need() const override { return Need::kNorms; }
  std::optional<int> tolerance() const override { return options_.f; }

  Result<void> admits(const Shape& shape) const override {
    if (shape.clients < 2) {
      return invalid_argument(fmt::format("avgrej needs n >= 2; got n={}", shape.clients));
    }
    return needs_more_than_f("avgrej", shape, options_.f);
  }

  Result<Decision> decide(RowSpace& rows) const override {
    const Result<std::vector<double>> losses = losses_without(rows);
    if (!losses) return losses.error();
    const Shape& shape = rows.shape();
    const std::size_t kept = shape.clients - shape.tolerated(options_.f);
    Decision decision = mean_of_best(*losses, kept, Best::kLargest, "loss_without");
    decision.warnings = majority_warnings(shape, options_.f);
    warn_not_finite(*losses, decision);
    return decision;
  }

 private:
  AvgrejOptions options_;
};

}  // namespace

Result<Aggregator> make_avgrej(const AvgrejOptions& options) {
  return make_named<Aggregator, AvgRej>(options);
}

}  // namespace boba
