#include "boba/kernels/cpu/cpu.h"

#include <cassert>
#include <string>

#include "boba/kernels/cpu/levels.h"
#include "boba/kernels/cpu/passes.h"
#include "boba/threads/team.h"

namespace boba {
namespace {

class CpuKernels final : public Kernels {
 public:
  explicit CpuKernels(const cpu::Machine& machine) : machine_(machine) {}

  std::string name() const override {
    return "cpu, " + std::to_string(machine_.threads) +
           (machine_.threads == 1 ? " thread, " : " threads, ") + machine_.simd->name;
  }
  GramPass gram(const UpdateView& rows, std::span<const double> origin,
                Precision precision) const override {
    return cpu::gram(machine_, rows, origin, precision);
  }
  DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                std::span<const double> weights) const override {
    return cpu::dots(machine_, rows, reference, weights);
  }
  std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan,
                              std::span<double> out) const override {
    return cpu::sketch(machine_, rows, plan, out);
  }
  OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                     MutableRow out) const override {
    return cpu::combine(machine_, rows, weights, keep, out);
  }
  OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
                        MutableRow out) const override {
    return cpu::order_mean(machine_, rows, mix, first, last, out);
  }
  OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                     MutableRow out) const override {
    return cpu::moments(machine_, rows, mean_factor, deviation_factor, out);
  }
  OutputPass normal(const StreamKey& key, double sigma, MutableRow out) const override {
    return cpu::normal(machine_, key, sigma, 0, out);
  }

 private:
  cpu::Machine machine_;
};

}  // namespace

bool simd_supported(SimdLevel level) { return cpu::simd_table(level) != nullptr; }

cpu::Machine cpu::machine_of(const CpuOptions& options) {
  assert(simd_supported(options.simd));
  return {.simd = simd_table(options.simd),
          .threads = options.threads > 0 ? options.threads : usable_processors(),
          .grain = options.grain};
}

std::unique_ptr<const Kernels> make_cpu_kernels(const CpuOptions& options) {
  return std::make_unique<CpuKernels>(cpu::machine_of(options));
}

}  // namespace boba
