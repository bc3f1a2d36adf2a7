#include "boba/kernels/sketch/sketch.h"

#include <fmt/format.h>

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
    if (inner_.whole_length(rows) <= plan_.length) return inner_.gram(rows, origin, precision);
    std::vector<double> sketches(rows.rows() * plan_.length);
    std::vector<RowScan> scan = inner_.sketch(rows, plan_, sketches);
    RowList list(DType::kFloat64, plan_.length);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      list.add(MutableRow(std::span(sketches).subspan(i * plan_.length, plan_.length)));
    }
    // Where the passes work: a device's are not in the host's memory.
    UpdateMatrix there = inner_.make_rows(DType::kFloat64, rows.rows(), plan_.length);
    for (std::size_t i = 0; i < rows.rows(); ++i) inner_.put(list.view(), i, there.row(i));
    GramPass pass = inner_.for_whole_rows().gram(there.view(), origin, Precision::kRows);
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
  UpdateMatrix make_rows(DType dtype, std::size_t rows, std::size_t length) const override {
    return inner_.make_rows(dtype, rows, length);
  }
  void fill(MutableRow out, double value) const override { inner_.fill(out, value); }
  void copy(const UpdateView& rows, std::size_t i, MutableRow out) const override {
    inner_.copy(rows, i, out);
  }
  void put(const UpdateView& host, std::size_t i, MutableRow out) const override {
    inner_.put(host, i, out);
  }
  void get(const UpdateView& rows, std::size_t i, MutableRow host) const override {
    inner_.get(rows, i, host);
  }
  std::size_t whole_length(const UpdateView& rows) const override {
    return inner_.whole_length(rows);
  }
  // Few columns are not worth a sketch.
  GramPass gram_of_columns(const UpdateView& rows, std::size_t first,
                           std::size_t count) const override {
    return inner_.gram_of_columns(rows, first, count);
  }
  const Kernels& for_whole_rows() const override { return inner_.for_whole_rows(); }
  Result<std::uint64_t> secret_seed() const override { return inner_.secret_seed(); }

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

}  // namespace boba
