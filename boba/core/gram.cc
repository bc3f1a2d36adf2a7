#include "boba/core/gram.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace boba {
namespace {

double clamped(double value) {
  if (value >= 0) return value;
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : 0;
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Gram::Gram(GramPass pass, std::size_t clients, DType dtype)
    : Gram(std::move(pass), clients, dtype == DType::kFloat32 ? 0x1p-24 : 0x1p-53) {
  // Sketches are in double whatever the rows are.
  if (sketch_ != 0) rounding_ = 0x1p-53;
}

Gram::Gram(GramPass pass, std::size_t clients, double rounding)
    : centred_(std::move(pass.centred)),
      origin_dot_(std::move(pass.origin_dot)),
      origin_sq_(pass.origin_sq),
      rounding_(rounding),
      sketch_(pass.sketch),
      clients_(clients),
      size_(origin_dot_.size()) {
  assert(centred_.size() == size_ * size_ && clients_ <= size_);
  take_diagonal();
}

void Gram::take_diagonal() {
  diagonal_.resize(size_);
  for (std::size_t i = 0; i < size_; ++i) diagonal_[i] = centred(i, i);
}

double Gram::sq_norm(std::size_t i) const { return clamped(dot(i, i)); }

double Gram::sq_distance(std::size_t i, std::size_t j) const {
  return clamped(centred(i, i) + centred(j, j) - 2 * centred(i, j));
}

void Gram::sq_distances(std::size_t i, std::span<double> out) const {
  assert(out.size() == clients_);
  const double* row = centred_.data() + i * size_;
  const double own = diagonal_[i];
  for (std::size_t j = 0; j < out.size(); ++j) {
    const double square = own + diagonal_[j] - 2 * row[j];
    // As clamped(), in a form without branches.
    const double positive = square > 0 ? square : 0;
    out[j] = std::isnan(square) ? std::numeric_limits<double>::infinity() : positive;
  }
}

void Gram::keep_clients(std::span<const std::size_t> kept) {
  std::vector<std::size_t> rows(kept.begin(), kept.end());
  for (std::size_t i = clients_; i < size_; ++i) rows.push_back(i);
  // Rows rise, so each number moves to a place that has been read already.
  const std::size_t size = rows.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      centred_[i * size + j] = centred_[rows[i] * size_ + rows[j]];
    }
    origin_dot_[i] = origin_dot_[rows[i]];
  }
  centred_.resize(size * size);
  origin_dot_.resize(size);
  clients_ = kept.size();
  size_ = size;
  take_diagonal();
}

void Gram::move_origin(std::size_t row) {
  const std::vector<double> with_row(
      centred_.begin() + static_cast<std::ptrdiff_t>(row * size_),
      centred_.begin() + static_cast<std::ptrdiff_t>((row + 1) * size_));
  const double own = with_row[row];
  const double shift = origin_dot_[row];
  for (std::size_t i = 0; i < size_; ++i) {
    // <o', a_i - o'> with o' = a_row, from products about o.
    origin_dot_[i] = (with_row[i] - own) + (origin_dot_[i] - shift);
    for (std::size_t j = 0; j < size_; ++j) {
      centred_[i * size_ + j] = (centred_[i * size_ + j] - with_row[i]) + (own - with_row[j]);
    }
  }
  origin_sq_ += own + 2 * shift;
  // The two halves differ in the last bit, but rules rely on symmetry.
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t j = 0; j < i; ++j) centred_[i * size_ + j] = centred_[j * size_ + i];
  }
  take_diagonal();
}

Gram Gram::transformed(const Mix& mix, std::size_t clients) const {
  Gram result;
  result.clients_ = clients;
  result.size_ = mix.rows();
  result.origin_sq_ = origin_sq_;
  result.rounding_ = rounding_;
  result.sketch_ = sketch_;
  result.centred_.resize(result.size_ * result.size_);
  result.origin_dot_.resize(result.size_);

  std::vector<double> row(size_);  // row i of M K
  for (std::size_t i = 0; i < result.size_; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (const Mix::Term& term : mix.terms(i)) {
      for (std::size_t j = 0; j < size_; ++j) row[j] += term.weight * centred(term.row, j);
      result.origin_dot_[i] += term.weight * origin_dot_[term.row];
    }
    double* out = result.centred_.data() + i * result.size_;
    for (std::size_t j = 0; j < result.size_; ++j) {
      for (const Mix::Term& term : mix.terms(j)) out[j] += term.weight * row[term.row];
    }
  }
  // The two halves differ in the last bit, but rules rely on symmetry.
  for (std::size_t i = 0; i < result.size_; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      result.centred_[i * result.size_ + j] = result.centred_[j * result.size_ + i];
    }
  }
  result.take_diagonal();
  return result;
}

Gram Gram::mixed(const Mix& mix) const {
  Mix all = mix;
  for (std::size_t i = clients_; i < size_; ++i) all.keep(i);
  return transformed(all, mix.rows());
}

Gram Gram::joined(std::size_t parts) const {
  assert(servers() % parts == 0);
  Mix all;
  for (std::size_t i = 0; i < clients_; ++i) all.keep(i);
  std::vector<Mix::Term> mean(parts, {0, 1 / static_cast<double>(parts)});
  for (std::size_t first = clients_; first < size_; first += parts) {
    for (std::size_t k = 0; k < parts; ++k) mean[k].row = first + k;
    all.add(mean);
  }
  return transformed(all, clients_);
}

OriginFit origin_fit(const Gram& gram) {
  const std::size_t n = gram.clients();
  assert(n > 0);
  OriginFit fit;
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    gram.sq_distances(i, values);
    const auto closer = static_cast<std::size_t>(
        std::count_if(values.begin(), values.end(), [&](double value) { return value < least; }));
    // Fewer than half are closer than the best median so far, so this one is not better.
    if (closer < (n + 1) / 2) continue;
    const double median = median_of(values);
    if (median < least) {
      least = median;
      fit.medoid = i;
    }
  }
  for (std::size_t i = 0; i < n; ++i) values[i] = gram.centred(i, i);
  const double from_origin = median_of(values);
  if (from_origin == 0) {
    fit.condition = 1;
  } else {
    fit.condition = least > 0 ? from_origin / least : std::numeric_limits<double>::infinity();
  }
  return fit;
}

}  // namespace boba
