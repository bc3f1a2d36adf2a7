#include "boba/kernels/sketch/sketch.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

namespace boba {
namespace {

class SketchKernels final : public Kernels {
 public:
  SketchKernels(const Kernels& inner, const SketchPlan& plan) : inner_(inner), plan_(plan) {}

  std::string name() const override {
    return fmt::format("{}, sketches of length {}", inner_.name(), plan_.length);
  }

  // Centring commutes with the projection, so the origin is subtracted from the sketches.
  GramPass gram(const UpdateView& rows, std::span<const double> origin,
                Precision precision) const override {
    if (rows.length() <= plan_.length) return inner_.gram(rows, origin, precision);
    std::vector<double> sketches(rows.rows() * plan_.length);
    std::vector<RowScan> scan = inner_.sketch(rows, plan_, sketches);
    RowList list(DType::kFloat64, plan_.length);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      list.add(MutableRow(std::span(sketches).subspan(i * plan_.length, plan_.length)));
    }
    GramPass pass = inner_.gram(list.view(), origin, Precision::kRows);
    clear_unusable(scan, pass);
    pass.scan = std::move(scan);
    pass.sketch = plan_.length;
    return pass;
  }

  DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                std::span<const double> weights) const override {
    return inner_.dots(rows, reference, weights);
  }
  std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan,
                              std::span<double> out) const override {
    return inner_.sketch(rows, plan, out);
  }
  OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                     MutableRow out) const override {
    return inner_.combine(rows, weights, keep, out);
  }
  OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
                        MutableRow out) const override {
    return inner_.order_mean(rows, mix, first, last, out);
  }
  OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                     MutableRow out) const override {
    return inner_.moments(rows, mean_factor, deviation_factor, out);
  }
  OutputPass normal(const StreamKey& key, double sigma, MutableRow out) const override {
    return inner_.normal(key, sigma, out);
  }

 private:
  // The sketch of a row that is not finite is zero, but zero less the origin is not.
  static void clear_unusable(const std::vector<RowScan>& scan, GramPass& pass) {
    const std::size_t n = scan.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (scan[i].finite) continue;
      pass.origin_dot[i] = 0;
      for (std::size_t j = 0; j < n; ++j) pass.centred[i * n + j] = pass.centred[j * n + i] = 0;
    }
  }

  const Kernels& inner_;
  SketchPlan plan_;
};

}  // namespace

Result<std::unique_ptr<const Kernels>> make_sketch_kernels(const Kernels& inner,
                                                           const SketchPlan& plan) {
  if (Result<void> good = check_plan(plan); !good) return good.error();
  return std::unique_ptr<const Kernels>(std::make_unique<SketchKernels>(inner, plan));
}

Result<std::uint64_t> fresh_seed() {
  std::uint64_t seed = 0;
  // So few bytes come whole, or not at all.
  while (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    if (errno == EINTR) continue;
    return Error{ErrorCode::kInternal,
                 fmt::format("the operating system gave no random numbers: {}",
                             std::generic_category().message(errno))};
  }
  return seed;
}

}  // namespace boba
