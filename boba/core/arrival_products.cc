#include "boba/core/arrival_products.h"

#include <algorithm>

#include "boba/core/refusal.h"

namespace boba {
namespace {

constexpr double kOne[] = {1.0};

void add_sketch(std::span<const double> sketch, RowList& list) {
  const double* const row = sketch.data();
  list.add(UpdateView(std::span<const double* const>(&row, 1), sketch.size()));
}

}  // namespace

Result<void> ArrivalProducts::prepare() {
  for (const UpdateView* rows : {&options_.server, &options_.server_whole}) {
    if (Result<void> good = check_server_rows(kernels_, *rows); !good) return good;
  }
  const std::size_t c = options_.server.rows();
  if (!wanted_) return {};
  server_factors_ = options_.sketch ? RowList(DType::kFloat64, options_.sketch->length)
                                    : RowList(options_.dtype, options_.length);
  if (c == 0) return {};
  if (options_.sketch) {
    const std::size_t length = options_.sketch->length;
    server_sketches_.resize(c * length);
    kernels_.sketch(options_.server, *options_.sketch, server_sketches_);
    for (std::size_t z = 0; z < c; ++z) {
      add_sketch(std::span(server_sketches_).subspan(z * length, length), server_factors_);
    }
  } else {
    server_factors_.add(options_.server);
  }
  server_products_.resize(c * c);
  const UpdateView rows = server_factors_.view();
  for (std::size_t z = 0; z < c; ++z) {
    RowList one(rows.dtype(), rows.length());
    one.add(rows, z);
    const DotsPass pass = kernels_.dots(rows, one.view(), kOne);
    for (std::size_t y = 0; y <= z; ++y) {
      server_products_[z * c + y] = server_products_[y * c + z] = pass.dot[y];
    }
  }
  return {};
}

Result<double> ArrivalProducts::check(Arrival& update) const {
  const DotsPass norm = kernels_.dots(update.row.view(), {}, {});
  const std::vector<Refusal> bad = refusals(kernels_, update.row.view(), norm.scan);
  if (!bad.empty()) return invalid_argument(bad.front().reason);
  if (!options_.sketch || !wanted_) return norm.sq_norm[0];
  update.sketch.resize(options_.sketch->length);
  kernels_.sketch(update.row.view(), *options_.sketch, update.sketch);
  return kernels_.dots(factor(update).view(), {}, {}).sq_norm[0];
}

// What is multiplied: the update, or its sketch.
RowList ArrivalProducts::factor(const Arrival& update) const {
  if (!options_.sketch) return update.row;
  RowList list(DType::kFloat64, update.sketch.size());
  add_sketch(update.sketch, list);
  return list;
}

std::vector<double> ArrivalProducts::multiply(const Arrival& update, const Arrivals& before,
                                              double square) const {
  if (!wanted_) return {};
  RowList others = server_factors_;
  for (const auto& each : before) {
    if (each) others.add(factor(*each).view());
  }
  const std::vector<double> dots = kernels_.dots(others.view(), factor(update).view(), kOne).dot;
  const auto servers = static_cast<std::ptrdiff_t>(server_factors_.rows());
  std::vector<double> products(dots.begin(), dots.begin() + servers);
  auto next = dots.begin() + servers;
  for (const auto& each : before) products.push_back(each ? *next++ : 0.0);
  products.push_back(square);
  return products;
}

std::vector<double> ArrivalProducts::matrix(std::span<const std::optional<std::size_t>> rows,
                                            const Arrivals& arrivals) const {
  if (!wanted_) return {};
  const std::size_t n = rows.size();
  const std::size_t c = options_.server.rows();
  std::vector<double> products((n + c) * (n + c), 0.0);
  const auto set = [&](std::size_t i, std::size_t j, double value) {
    products[i * (n + c) + j] = products[j * (n + c) + i] = value;
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (!rows[i]) continue;
    const std::size_t a = *rows[i];
    for (std::size_t j = 0; j <= i; ++j) {
      if (!rows[j]) continue;
      const std::size_t b = *rows[j];
      set(i, j, arrivals[std::max(a, b)]->products[c + std::min(a, b)]);
    }
    for (std::size_t z = 0; z < c; ++z) set(i, n + z, arrivals[a]->products[z]);
  }
  for (std::size_t z = 0; z < c; ++z) {
    for (std::size_t y = 0; y <= z; ++y) set(n + z, n + y, server_products_[z * c + y]);
  }
  return products;
}

}  // namespace boba
