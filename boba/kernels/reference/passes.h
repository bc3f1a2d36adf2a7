// The passes over d, one source each, and what they share.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/random.h"

namespace boba::reference {

template <class T>
RowScan scan_row(const T* row, std::size_t length) {
  RowScan scan;
  for (std::size_t k = 0; k < length; ++k) {
    if (!std::isfinite(row[k])) return {.finite = false, .max_abs = 0};
    scan.max_abs = std::fmax(scan.max_abs, std::abs(static_cast<double>(row[k])));
  }
  return scan;
}

// Element k of the sum of weights[i] * a_i; rows of weight 0 are not read.
template <class T>
double weighted_sum(const UpdateView& rows, std::span<const double> weights, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] != 0) sum += weights[i] * static_cast<double>(rows.row<T>(i)[k]);
  }
  return sum;
}

GramPass gram(const UpdateView& rows, std::span<const double> origin);
DotsPass dots(const UpdateView& rows, const UpdateView& reference, std::span<const double> weights);
std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan, std::span<double> out);
OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                   MutableRow out);
OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
                      MutableRow out);
OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                   MutableRow out);
OutputPass normal(const StreamKey& key, double sigma, MutableRow out);

}  // namespace boba::reference
