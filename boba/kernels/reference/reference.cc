#include "boba/kernels/reference/reference.h"

#include "boba/kernels/reference/passes.h"

namespace boba {
namespace {

class ReferenceKernels final : public Kernels {
 public:
  std::string name() const override { return "reference"; }
  GramPass gram(const UpdateView& rows, std::span<const double> origin,
                Precision /*always double*/) const override {
    return reference::gram(rows, origin);
  }
  DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                std::span<const double> weights) const override {
    return reference::dots(rows, reference, weights);
  }
  std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan,
                              std::span<double> out) const override {
    return reference::sketch(rows, plan, out);
  }
  OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                     MutableRow out) const override {
    return reference::combine(rows, weights, keep, out);
  }
  OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
                        MutableRow out) const override {
    return reference::order_mean(rows, mix, first, last, out);
  }
  OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                     MutableRow out) const override {
    return reference::moments(rows, mean_factor, deviation_factor, out);
  }
  OutputPass normal(const StreamKey& key, double sigma, MutableRow out) const override {
    return reference::normal(key, sigma, out);
  }
};

}  // namespace

std::unique_ptr<const Kernels> make_reference_kernels() {
  return std::make_unique<ReferenceKernels>();
}

}  // namespace boba
