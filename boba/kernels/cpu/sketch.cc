// Sketches: one member reads a row once, in the order of its columns.
#include <array>
#include <cassert>

#include "boba/core/sketch.h"
#include "boba/kernels/cpu/passes.h"
#include "boba/threads/team.h"

namespace boba::cpu {
namespace {

constexpr std::size_t kDrawLines = 1024;  // per job of drawing the lines
constexpr std::size_t kCostOfLine = 64;   // in bytes that could be read meanwhile

// The random signs and places of all lines, drawn once for all rows. They take a sixteenth of the
// memory of a float32 row.
std::vector<SketchStep> draw(const Machine& machine, const SketchPlan& plan, std::size_t d) {
  const std::size_t lines = ceil_divide(d, kSketchLine);
  std::vector<SketchStep> steps(lines);
  run_jobs(machine.team(lines * kCostOfLine), ceil_divide(lines, kDrawLines),
           [&](std::size_t job, int) {
             const std::size_t first = job * kDrawLines;
             std::array<SketchLine, kDrawLines> drawn;
             const std::size_t count = std::min(kDrawLines, lines - first);
             sketch_lines(plan, plan.first / kSketchLine + first, std::span(drawn).first(count));
             for (std::size_t k = 0; k < count; ++k) {
               steps[first + k] = {.signs = drawn[k].signs, .place = drawn[k].place};
             }
           });
  return steps;
}

// Aligned, so that no vector of sums crosses a cache line.
struct alignas(64) SumLine {
  double sums[8];
};

template <class T>
std::vector<RowScan> run(const Machine& machine, const UpdateView& rows, const SketchPlan& plan,
                         std::span<double> all_sums) {
  const SimdKernels<T>& kernels = machine.kernels<T>();
  const std::size_t d = rows.length();
  const std::vector<SketchStep> steps = draw(machine, plan, d);
  std::vector<RowScan> scan(rows.rows());
  run_jobs(machine.team(rows.rows() * d * sizeof(T)), rows.rows(), [&](std::size_t i, int) {
    std::vector<SumLine> lines(plan.length / 8);
    double* sums = lines.front().sums;
    double* to = all_sums.data() + i * plan.length;
    std::copy_n(to, plan.length, sums);
    scan[i] = scan_of<T>(kernels.sketch(rows.row<T>(i), d, steps.data(), sums));
    std::copy_n(sums, plan.length, to);
  });
  return scan;
}

}  // namespace

std::vector<RowScan> add_sketches(const Machine& machine, const UpdateView& rows,
                                  const SketchPlan& plan, std::span<double> sums) {
  assert(check_plan(plan) && sums.size() == rows.rows() * plan.length);
  return visit(rows.dtype(),
               [&](auto zero) { return run<decltype(zero)>(machine, rows, plan, sums); });
}

std::vector<RowScan> sketch(const Machine& machine, const UpdateView& rows, const SketchPlan& plan,
                            std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<RowScan> scan = add_sketches(machine, rows, plan, out);
  for (std::size_t i = 0; i < scan.size(); ++i) {
    if (!scan[i].finite) std::fill_n(out.begin() + i * plan.length, plan.length, 0.0);
  }
  return scan;
}

}  // namespace boba::cpu
