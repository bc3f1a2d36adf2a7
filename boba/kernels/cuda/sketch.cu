// Random projections of rows. The lines that go to the same sixteen places of the sketch form a
// group. Half a warp adds the lines of one group, in order, for one row, so no two threads add to
// the same sum.
#include "boba/core/sketch.h"

#include <algorithm>

#include "boba/kernels/cuda/passes.h"
#include "boba/kernels/cuda/rows.cuh"

namespace boba::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPlaces = static_cast<int>(kSketchLine);  // per group

struct PlacedLine {
  std::uint32_t index;  // of the line in the rows
  std::uint16_t signs;
  std::uint16_t place;
};

// Lines by the group of places they go to, rising within a group.
struct Groups {
  std::vector<PlacedLine> lines;
  std::vector<std::uint32_t> ends;
};

Groups group_lines(const SketchPlan& plan, std::size_t length) {
  std::vector<SketchLine> drawn((length + kSketchLine - 1) / kSketchLine);
  sketch_lines(plan, plan.first / kSketchLine, drawn);
  Groups groups;
  groups.lines.resize(drawn.size());
  groups.ends.assign(plan.length / kSketchLine, 0);
  for (const SketchLine& line : drawn) ++groups.ends[line.place / kSketchLine];
  std::uint32_t begin = 0;
  for (std::uint32_t& end : groups.ends) {
    const std::uint32_t count = end;
    end = begin;
    begin += count;
  }
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    std::uint32_t& at = groups.ends[drawn[k].place / kSketchLine];
    groups.lines[at++] = {static_cast<std::uint32_t>(k), drawn[k].signs, drawn[k].place};
  }
  return groups;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    sketch_kernel(const __grid_constant__ RowTable<T> rows, std::size_t length,
                  const PlacedLine* lines, const std::uint32_t* ends, int groups, double* out,
                  Bits<T>* bits) {
  const int group =
      static_cast<int>(blockIdx.x) * (kThreads / kPlaces) + static_cast<int>(threadIdx.x) / kPlaces;
  if (group >= groups) return;
  const unsigned place = threadIdx.x % kPlaces;
  const T* row = rows[blockIdx.y];
  double sum = 0;
  Bits<T> largest = 0;
#pragma unroll 4
  for (std::uint32_t t = group == 0 ? 0 : ends[group - 1]; t < ends[group]; ++t) {
    const PlacedLine line = lines[t];
    const unsigned column = (line.place ^ place) % kPlaces;
    const std::size_t k = static_cast<std::size_t>(line.index) * kPlaces + column;
    if (k >= length) continue;
    const T x = row[k];
    largest = max(largest, abs_bits(x));
    const auto wide = static_cast<double>(x);
    sum += (line.signs >> column & 1) != 0 ? -wide : wide;
  }
  out[(static_cast<std::size_t>(blockIdx.y) * groups + group) * kPlaces + place] = sum;
  if (bits[blockIdx.y] < largest) atomicMax(&bits[blockIdx.y], largest);
}

template <class T>
std::vector<RowScan> run(const Device& device, const UpdateView& view, const SketchPlan& plan,
                         std::span<double> out) {
  std::vector<Bits<T>> bits(view.rows());
  std::vector<RowScan> scan(view.rows());
  std::fill(out.begin(), out.end(), 0.0);
  if (view.empty() || view.length() == 0) return scan;
  const Groups groups = group_lines(plan, view.length());
  const Device::Turn turn(device);
  const KernelRows<T> kernel_rows(turn, row_pointers<T>(view));
  const Buffer lines(groups.lines.size() * sizeof(PlacedLine), turn.stream());
  const Buffer ends(groups.ends.size() * sizeof(std::uint32_t), turn.stream());
  turn.upload(lines.as<void>(), groups.lines.data(), groups.lines.size() * sizeof(PlacedLine));
  turn.upload(ends.as<void>(), groups.ends.data(), groups.ends.size() * sizeof(std::uint32_t));
  const Buffer sums(out.size_bytes(), turn.stream());
  const Buffer seen(bits.size() * sizeof(Bits<T>), turn.stream());
  check(cudaMemsetAsync(seen.as<void>(), 0, bits.size() * sizeof(Bits<T>), turn.stream()), "clear");
  const std::size_t per_block = kThreads / kPlaces;
  const auto blocks = static_cast<unsigned>((groups.ends.size() + per_block - 1) / per_block);
  sketch_kernel<T>
      <<<dim3(blocks, static_cast<unsigned>(view.rows())), kThreads, 0, turn.stream()>>>(
          kernel_rows.table(), view.length(), lines.as<PlacedLine>(), ends.as<std::uint32_t>(),
          static_cast<int>(groups.ends.size()), sums.as<double>(), seen.as<Bits<T>>());
  check(cudaGetLastError(), "project rows");
  turn.download(bits.data(), seen.as<void>(), bits.size() * sizeof(Bits<T>));
  turn.download(out.data(), sums.as<void>(), out.size_bytes());
  for (std::size_t i = 0; i < scan.size(); ++i) {
    scan[i] = scan_of<T>(bits[i]);
    if (scan[i].finite) continue;
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(i * plan.length), plan.length, 0.0);
  }
  return scan;
}

}  // namespace

std::vector<RowScan> sketch(const Device& device, const UpdateView& rows, const SketchPlan& plan,
                            std::span<double> out) {
  return visit(rows.dtype(),
               [&](auto zero) { return run<decltype(zero)>(device, rows, plan, out); });
}

}  // namespace boba::cuda
