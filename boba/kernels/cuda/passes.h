// The passes over d, one source each.
#pragma once

#include <span>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/random.h"
#include "boba/kernels/cuda/device.h"

namespace boba::cuda {

GramPass gram(const Device& device, const UpdateView& rows, std::span<const double> origin,
              Precision precision);
DotsPass dots(const Device& device, const UpdateView& rows, const UpdateView& reference,
              std::span<const double> weights);
std::vector<RowScan> sketch(const Device& device, const UpdateView& rows, const SketchPlan& plan,
                            std::span<double> out);
OutputPass combine(const Device& device, const UpdateView& rows, std::span<const double> weights,
                   double keep, MutableRow out);
OutputPass order_mean(const Device& device, const UpdateView& rows, const Mix* mix,
                      std::size_t first, std::size_t last, MutableRow out);
OutputPass moments(const Device& device, const UpdateView& rows, double mean_factor,
                   double deviation_factor, MutableRow out);
OutputPass normal(const Device& device, const StreamKey& key, double sigma, MutableRow out);

UpdateMatrix make_rows(const Device& device, DType dtype, std::size_t rows, std::size_t length);
void fill(const Device& device, MutableRow out, double value);
// Whether a copy has ended when the call returns. Later passes see it either way.
enum class End { kLater, kWait };
void copy(const Device& device, const UpdateView& rows, std::size_t i, MutableRow out, End end);

}  // namespace boba::cuda
