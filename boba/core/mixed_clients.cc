#include "boba/core/mixed_clients.h"

#include <utility>

namespace boba {
namespace {

Mix compose(const Mix& outer, const Mix& inner) {
  Mix result;
  for (std::size_t i = 0; i < outer.rows(); ++i) {
    std::vector<Mix::Term> terms;
    for (const Mix::Term& o : outer.terms(i)) {
      for (const Mix::Term& t : inner.terms(o.row)) terms.push_back({t.row, o.weight * t.weight});
    }
    result.add(terms);
  }
  return result;
}

}  // namespace

Result<void> MixedClients::apply(std::span<const MixStagePtr> stages, const Kernels& kernels,
                                 const Round& round, Shape& shape) {
  if (stages.empty()) return {};
  left_out.assign(shape.clients, "");
  if (!round.seed) {
    const Result<std::uint64_t> drawn = kernels.secret_seed();
    if (!drawn) return drawn.error();
    drawn_seed = *drawn;
  }
  const std::uint64_t seed = round.seed ? *round.seed : *drawn_seed;
  for (const MixStagePtr& stage : stages) {
    if (Result<void> good = stage->admits(shape); !good) return good;
    Mix next = stage->mix(shape, seed, round.number);
    mix = mix ? compose(next, *mix) : std::move(next);
    std::vector<bool> used(left_out.size(), false);
    for (std::size_t i = 0; i < mix->rows(); ++i) {
      for (const Mix::Term& term : mix->terms(i)) used[term.row] = true;
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i] && left_out[i].empty()) left_out[i] = stage->left_out(shape);
    }
    shape.clients = mix->rows();
  }
  return {};
}

std::vector<double> MixedClients::client_weights(std::span<const double> row_weights) const {
  if (!mix) return {row_weights.begin(), row_weights.end()};
  std::vector<double> weights(updates.rows(), 0.0);
  for (std::size_t i = 0; i < mix->rows(); ++i) {
    for (const Mix::Term& term : mix->terms(i)) weights[term.row] += row_weights[i] * term.weight;
  }
  return weights;
}

std::vector<double> MixedClients::row_products(std::span<const double> client_products) const {
  if (!mix) return {client_products.begin(), client_products.end()};
  std::vector<double> products(mix->rows(), 0.0);
  for (std::size_t i = 0; i < mix->rows(); ++i) {
    for (const Mix::Term& term : mix->terms(i)) {
      products[i] += term.weight * client_products[term.row];
    }
  }
  return products;
}

}  // namespace boba
