#include "tests/support/rules_loss.h"

#include <cmath>

namespace boba::test {
namespace {

Row values(const UpdateView& point) {
  return visit(point.dtype(), [&](auto zero) {
    const auto* data = point.row<decltype(zero)>(0);
    return Row(data, data + point.length());
  });
}

}  // namespace

QuadraticLoss::QuadraticLoss(Row curvature, Row centre)
    : curvature_(std::move(curvature)), centre_(std::move(centre)) {}

QuadraticLoss QuadraticLoss::random(std::size_t length, std::uint64_t seed) {
  Rows draws = random_rows(2, length, seed);
  for (double& x : draws[0]) x = 0.5 + x * x;
  return {draws[0], draws[1]};
}

Result<void> QuadraticLoss::count(int& counter) {
  ++counter;
  if (fails_at && losses + gradients == *fails_at) {
    return Error{ErrorCode::kIo, "the server's data is out of reach"};
  }
  return {};
}

Result<double> QuadraticLoss::loss(const UpdateView& point) {
  if (Result<void> good = count(losses); !good) return good.error();
  const double loss = value(values(point));
  return loss > nan_above ? std::nan("") : loss;
}

Result<void> QuadraticLoss::gradient(const UpdateView& point, MutableRow out) {
  if (Result<void> good = count(gradients); !good) return good.error();
  const Row g = slope(values(point));
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t k = 0; k < g.size(); ++k) out.as<T>()[k] = static_cast<T>(g[k]);
  });
  return {};
}

double QuadraticLoss::value(const Row& point) const {
  double sum = 0;
  for (std::size_t k = 0; k < point.size(); ++k) {
    sum += curvature_[k] * (point[k] - centre_[k]) * (point[k] - centre_[k]) / 2;
  }
  return sum;
}

Row QuadraticLoss::slope(const Row& point) const {
  Row g(point.size());
  for (std::size_t k = 0; k < g.size(); ++k) {
    g[k] = flat ? 0 : curvature_[k] * (point[k] - centre_[k]);
  }
  return g;
}

}  // namespace boba::test
