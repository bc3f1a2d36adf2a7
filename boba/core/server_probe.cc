#include "boba/core/server_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace boba {

void drop_tiny(ServerProducts& products) {
  constexpr double kLeastSquare = 0x1p-960;
  for (std::size_t i = 0; i < products.sq_norm.size(); ++i) {
    if (products.sq_norm[i] >= kLeastSquare) continue;
    products.sq_norm[i] = 0;
    if (!products.dot.empty()) products.dot[i] = 0;
  }
  if (products.server_sq < kLeastSquare) products.server_sq = 0;
}

Result<void> ServerProbe::check() const {
  if (round_->oracle == nullptr || round_->model.empty()) {
    return invalid_argument(
        "this rule asks for the server's loss: the round needs an oracle and the model w");
  }
  const double eta = round_->learning_rate;
  if (!(eta > 0) || !std::isfinite(eta)) {
    return invalid_argument(fmt::format(
        "this rule probes w - eta * update: learning_rate is {}; it must be positive", eta));
  }
  return {};
}

Result<void> ServerProbe::hold(const MixedClients& clients, std::span<const double> weights) {
  if (held_.rows() == 0) {
    held_ = kernels_->make_rows(round_->updates.dtype(), 1, round_->updates.length());
  }
  const OutputPass pass =
      kernels_->combine(clients.updates.view(), clients.client_weights(weights), 0, held_.row(0));
  if (!pass.finite) return invalid_argument("the sum of the updates overflows their type");
  return {};
}

void ServerProbe::make_points(std::size_t rows) {
  if (points_.rows() >= rows) return;
  points_ = kernels_->make_rows(round_->model.dtype(), rows, round_->model.length());
}

// Row i of points_ becomes w - eta * (held * h + sum of factor * row).
void ServerProbe::set_point(std::size_t i, const MixedClients& clients, double held,
                            std::span<const RowSpace::Term> terms) {
  const double eta = round_->learning_rate;
  RowList rows(round_->model);
  std::vector<double> weights = {1.0};
  if (held != 0) {
    rows.add(held_.view());
    weights.push_back(-eta * held);
  }
  std::vector<double> row_weights(clients.rows(), 0.0);
  for (const RowSpace::Term& term : terms) row_weights[term.row] += term.factor;
  const std::vector<double> factors = clients.client_weights(row_weights);
  for (std::size_t k = 0; k < factors.size(); ++k) {
    if (factors[k] == 0) continue;
    rows.add(clients.updates.view(), k);
    weights.push_back(-eta * factors[k]);
  }
  // The oracle is asked even about a point that overflows: the rule judges it by its loss.
  kernels_->combine(rows.view(), weights, 0, points_.row(i));
}

Result<std::vector<double>> ServerProbe::losses(
    const MixedClients& clients, double held, std::span<const std::vector<RowSpace::Term>> steps) {
  if (const Result<void> able = check(); !able) return able.error();
  std::vector<double> losses(steps.size());
  const std::size_t at_once =
      std::min(std::max<std::size_t>(1, round_->oracle->at_once()), steps.size());
  make_points(at_once);
  for (std::size_t first = 0; first < steps.size(); first += at_once) {
    const std::size_t count = std::min(at_once, steps.size() - first);
    RowList points(points_.dtype(), points_.length());
    for (std::size_t i = 0; i < count; ++i) {
      set_point(i, clients, held, steps[first + i]);
      points.add(points_.view(), i);
    }
    const std::span<double> out = std::span(losses).subspan(first, count);
    if (Result<void> asked = round_->oracle->losses(points.view(), out); !asked) {
      return asked.error();
    }
  }
  for (double& loss : losses) {
    if (std::isnan(loss)) loss = std::numeric_limits<double>::infinity();
  }
  return losses;
}

Result<ServerProducts> ServerProbe::gradient_dots(const MixedClients& clients,
                                                  std::span<const RowSpace::Term> terms) {
  if (const Result<void> able = check(); !able) return able.error();
  make_points(1);
  set_point(0, clients, 0, terms);
  RowList at(points_.dtype(), points_.length());
  at.add(points_.view(), 0);
  if (held_.rows() == 0) held_ = kernels_->make_rows(points_.dtype(), 1, points_.length());
  if (Result<void> asked = round_->oracle->gradient(at.view(), held_.row(0)); !asked) {
    return asked.error();
  }
  const std::vector<double> one = {1.0};
  const DotsPass pass = kernels_->dots(clients.updates.view(), held_.view(), one);
  if (!std::isfinite(pass.reference_sq)) {
    return invalid_argument("the server's gradient contains NaN or infinity");
  }
  ServerProducts products = {clients.row_products(pass.dot), {}, pass.reference_sq};
  drop_tiny(products);
  return products;
}

}  // namespace boba
