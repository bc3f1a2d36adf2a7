#include "boba/core/sketch.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "boba/kernels/reference/passes.h"

namespace boba::reference {
namespace {

template <class T>
std::vector<RowScan> run(const UpdateView& rows, const SketchPlan& plan, std::span<double> out) {
  const std::size_t d = rows.length();
  std::vector<SketchLine> lines((d + kSketchLine - 1) / kSketchLine);
  sketch_lines(plan, plan.first / kSketchLine, lines);
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<RowScan> scan;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const T* row = rows.row<T>(i);
    scan.push_back(scan_row(row, d));
    for (std::size_t k = 0; scan[i].finite && k < d; ++k) {
      const SketchLine& line = lines[k / kSketchLine];
      const std::size_t column = k % kSketchLine;
      const auto x = static_cast<double>(row[k]);
      out[i * plan.length + (line.place ^ column)] += (line.signs >> column & 1) != 0 ? -x : x;
    }
  }
  return scan;
}

}  // namespace

std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan, std::span<double> out) {
  assert(check_plan(plan) && out.size() == rows.rows() * plan.length);
  return visit(rows.dtype(), [&](auto zero) { return run<decltype(zero)>(rows, plan, out); });
}

}  // namespace boba::reference
