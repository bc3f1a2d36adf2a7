// Rows in the host's memory: each pass uploads the rows that it reads and downloads its output.
#include <cuda_runtime_api.h>

#include <utility>

#include "boba/kernels/cuda/cuda.h"
#include "boba/kernels/cuda/device.h"

namespace boba {
namespace {

// Rows of the host copied to the GPU, for one pass.
class Upload {
 public:
  Upload() = default;
  ~Upload() { cudaFree(memory_); }
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  // read: whether row i is needed; the pointers of other rows are not followed.
  template <class Read>
  void add(const UpdateView& rows, const Read& read) {
    visit(rows.dtype(), [&](auto zero) {
      using T = decltype(zero);
      std::size_t count = 0;
      for (std::size_t i = 0; i < rows.rows(); ++i) count += read(i) ? 1 : 0;
      T* to = allocate<T>(count * stride<T>(rows.length()));
      table_ = RowList(rows.dtype(), rows.length());
      for (std::size_t i = 0; i < rows.rows(); ++i) {
        table_.add(MutableRow(std::span<T>(to, rows.length())));
        if (!read(i)) continue;
        cuda::check(cudaMemcpy(to, rows.row<T>(i), rows.length() * sizeof(T), cudaMemcpyDefault),
                    "take a row");
        to += stride<T>(rows.length());
      }
    });
  }

  // Room for one row. keep: with the numbers that the row has.
  MutableRow add(const MutableRow& row, bool keep) {
    return visit(row.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* to = allocate<T>(row.length());
      if (keep && row.length() > 0) {
        cuda::check(cudaMemcpy(to, row.as<T>().data(), row.length() * sizeof(T), cudaMemcpyDefault),
                    "take a row");
      }
      return MutableRow(std::span<T>(to, row.length()));
    });
  }

  UpdateView view() const { return table_.view(); }

 private:
  // Rows begin at multiples of sixteen bytes.
  template <class T>
  static std::size_t stride(std::size_t length) {
    return (length * sizeof(T) + 15) / 16 * 16 / sizeof(T);
  }
  template <class T>
  T* allocate(std::size_t count) {
    cuda::check(cudaMalloc(&memory_, (count == 0 ? 1 : count) * sizeof(T)), "give memory");
    return static_cast<T*>(memory_);
  }

  void* memory_ = nullptr;
  RowList table_;
};

class HostedKernels final : public Kernels {
 public:
  HostedKernels(std::unique_ptr<const Kernels> device, int index)
      : device_(std::move(device)), index_(index) {}

  std::string name() const override { return device_->name() + ", rows from the host"; }

  GramPass gram(const UpdateView& rows, std::span<const double> origin,
                Precision precision) const override {
    const cuda::DeviceGuard guard(index_);
    Upload upload;
    upload.add(rows, all);
    return device_->gram(upload.view(), origin, precision);
  }
  DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                std::span<const double> weights) const override {
    const cuda::DeviceGuard guard(index_);
    Upload upload;
    upload.add(rows, all);
    Upload references;
    references.add(reference, [&](std::size_t j) { return weights[j] != 0; });
    return device_->dots(upload.view(), references.view(), weights);
  }
  std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan,
                              std::span<double> out) const override {
    const cuda::DeviceGuard guard(index_);
    Upload upload;
    upload.add(rows, all);
    return device_->sketch(upload.view(), plan, out);
  }
  OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                     MutableRow out) const override {
    const cuda::DeviceGuard guard(index_);
    Upload upload;
    upload.add(rows, [&](std::size_t i) { return weights[i] != 0; });
    return with_output(out, keep != 0, [&](MutableRow to) {
      return device_->combine(upload.view(), weights, keep, to);
    });
  }
  OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
                        MutableRow out) const override {
    std::vector<bool> read(rows.rows(), mix == nullptr);
    for (std::size_t i = 0; mix != nullptr && i < mix->rows(); ++i) {
      for (const Mix::Term& term : mix->terms(i)) {
        if (term.weight != 0) read[term.row] = true;
      }
    }
    const cuda::DeviceGuard guard(index_);
    Upload upload;
    upload.add(rows, [&](std::size_t i) { return static_cast<bool>(read[i]); });
    return with_output(out, false, [&](MutableRow to) {
      return device_->order_mean(upload.view(), mix, first, last, to);
    });
  }
  OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                     MutableRow out) const override {
    const cuda::DeviceGuard guard(index_);
    Upload upload;
    upload.add(rows, all);
    return with_output(out, false, [&](MutableRow to) {
      return device_->moments(upload.view(), mean_factor, deviation_factor, to);
    });
  }
  OutputPass normal(const StreamKey& key, double sigma, MutableRow out) const override {
    const cuda::DeviceGuard guard(index_);
    return with_output(out, false, [&](MutableRow to) { return device_->normal(key, sigma, to); });
  }

 private:
  static bool all(std::size_t /*row*/) { return true; }

  template <class Body>
  static OutputPass with_output(MutableRow out, bool keep, const Body& body) {
    Upload upload;
    const MutableRow to = upload.add(out, keep);
    OutputPass pass = body(to);
    visit(out.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if (out.length() == 0) return;
      cuda::check(cudaMemcpy(out.as<T>().data(), to.as<T>().data(), out.length() * sizeof(T),
                             cudaMemcpyDefault),
                  "give a row");
    });
    return pass;
  }

  std::unique_ptr<const Kernels> device_;
  int index_;
};

}  // namespace

Result<std::unique_ptr<const Kernels>> make_hosted_cuda_kernels(const CudaOptions& options) {
  auto device = make_cuda_kernels(options);
  if (!device) return device.error();
  return std::unique_ptr<const Kernels>(
      std::make_unique<HostedKernels>(*std::move(device), options.device));
}

}  // namespace boba
