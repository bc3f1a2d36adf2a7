// All inner products about the origin.
//
// float32 rows go to the tensor cores as integers. float64 rows go there in double, and so do
// float32 rows where products in double are wanted.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "boba/kernels/cuda/gram_digits.cuh"
#include "boba/kernels/cuda/gram_double.cuh"
#include "boba/kernels/cuda/passes.h"

namespace boba::cuda {
namespace {

// A kernel for tiles on the diagonal or above it.
template <class T>
struct TileKernel {
  void (*kernel)(GramInput<T>, TileSet, double*, Bits<T>*);
  int threads;
  std::size_t shared;
};

// How the tiles of the matrix are multiplied.
template <class T>
struct TilePlan {
  TileKernel<T> diagonal;
  TileKernel<T> above;
  std::size_t slices;
  std::size_t columns;  // per step
};

template <class T, bool Centred>
TilePlan<T> double_plan() {
  constexpr std::size_t kShared = kTileElements<T> * 2 * (sizeof(double) + sizeof(T));
  return {.diagonal = {diagonal_kernel<T, Centred>, kDiagonalThreads, kShared},
          .above = {above_kernel<T, Centred>, kAboveThreads, 2 * kShared},
          .slices = kSlices,
          .columns = kColumns<T>};
}

template <bool Centred>
TilePlan<float> digit_plan() {
  return {.diagonal = {diagonal_digits<Centred>, kDiagonalDigitThreads, kDiagonalShared<Centred>},
          .above = {above_digits<Centred>, kAboveDigitThreads, kAboveShared<Centred>},
          .slices = kDigitSlices,
          .columns = kDiagonalColumns};
}

template <class T>
void multiply_tiles(const Device::Turn& turn, const GramInput<T>& in, const TileKernel<T>& kernel,
                    TileSet tiles, std::size_t count, Bits<T>* bits, double* matrix) {
  if (count == 0) return;
  const auto slices = static_cast<int>((in.length + in.slice - 1) / in.slice);
  allow_shared(kernel.kernel, kernel.shared);
  // So few tiles at a time that the partial sums take at most a few hundred megabytes.
  constexpr std::size_t kAtOnce = 16;
  constexpr std::size_t kDoubles = static_cast<std::size_t>(kBlockRows) * kBlockRows;
  const Buffer partial(
      std::min(kAtOnce, count) * static_cast<std::size_t>(slices) * kDoubles * sizeof(double),
      turn.stream());
  for (std::size_t from = 0; from < count; from += kAtOnce) {
    const auto some = static_cast<unsigned>(std::min(kAtOnce, count - from));
    tiles.first = static_cast<int>(from);
    kernel.kernel<<<dim3(static_cast<unsigned>(slices), some),
                    static_cast<unsigned>(kernel.threads), kernel.shared, turn.stream()>>>(
        in, tiles, partial.as<double>(), bits);
    add_slices<<<dim3(kDoubles / kSmallThreads, some), kSmallThreads, 0, turn.stream()>>>(
        tiles, partial.as<double>(), slices, in.count, matrix);
    check(cudaGetLastError(), "multiply rows");
  }
}

// All products of the rows. Where an origin is subtracted, it is the last row.
struct Products {
  std::vector<double> matrix;
  std::vector<RowScan> scan;
};

template <class T>
Products multiply_rows(const Device::Turn& turn, GramInput<T>& in, const TilePlan<T>& plan) {
  const auto count = static_cast<std::size_t>(in.count);
  in.slice = ((in.length + plan.slices - 1) / plan.slices + plan.columns - 1) / plan.columns *
             plan.columns;
  const std::size_t matrix_bytes = count * count * sizeof(double);
  const std::size_t bits_bytes = count * sizeof(Bits<T>);
  const Buffer result(matrix_bytes + bits_bytes, turn.stream());
  auto* bits = reinterpret_cast<Bits<T>*>(result.as<char>() + matrix_bytes);
  check(cudaMemsetAsync(bits, 0, bits_bytes, turn.stream()), "clear");
  const std::size_t blocks = (count + kBlockRows - 1) / kBlockRows;
  const TileSet tiles{.diagonal = true, .first = 0, .blocks = static_cast<int>(blocks)};
  multiply_tiles(turn, in, plan.diagonal, tiles, blocks, bits, result.as<double>());
  multiply_tiles(turn, in, plan.above, {.diagonal = false, .first = 0, .blocks = tiles.blocks},
                 blocks * (blocks - 1) / 2, bits, result.as<double>());
  Products products;
  products.matrix.resize(count * count + (bits_bytes + sizeof(double) - 1) / sizeof(double));
  turn.download(products.matrix.data(), result.as<void>(), matrix_bytes + bits_bytes);
  std::vector<Bits<T>> seen(count);
  std::memcpy(seen.data(), products.matrix.data() + count * count, bits_bytes);
  products.matrix.resize(count * count);
  for (std::size_t i = 0; i < count; ++i) {
    RowScan scan = scan_of<T>(seen[i]);
    if (sizeof(T) == 4 && !std::isfinite(products.matrix[i * count + i])) scan = {false, 0};
    products.scan.push_back(scan);
  }
  return products;
}

// A pass with all that does not depend on the origin, and zeros where a row is not finite.
GramPass plain_pass(const Products& products, std::size_t n) {
  const std::size_t stride = products.scan.size();
  GramPass pass;
  pass.centred.assign(n * n, 0.0);
  pass.origin_dot.assign(n, 0.0);
  pass.scan.assign(products.scan.begin(), products.scan.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; pass.scan[i].finite && j < n; ++j) {
      if (pass.scan[j].finite) pass.centred[i * n + j] = products.matrix[i * stride + j];
    }
  }
  return pass;
}

template <class T>
GramPass run_plain(const Device& device, const UpdateView& view, const TilePlan<T>& plan) {
  const std::vector<const T*> rows = row_pointers<T>(view);
  const Device::Turn turn(device);
  const KernelRows<T> kernel_rows(turn, rows);
  GramInput<T> in{.rows = kernel_rows.table(),
                  .origin = nullptr,
                  .count = static_cast<int>(rows.size()),
                  .vectors = aligned(rows),
                  .length = view.length(),
                  .slice = 0,
                  .zero = 0};
  return plain_pass(multiply_rows<T>(turn, in, plan), rows.size());
}

// The origin as a row: one of the rows, or a weighted sum in its own memory.
template <class T>
class OriginRow {
 public:
  OriginRow(const Device::Turn& turn, const std::vector<const T*>& rows,
            std::span<const double> origin, std::size_t length) {
    std::vector<const T*> parts;
    std::vector<double> weights;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (origin[i] == 0) continue;
      parts.push_back(rows[i]);
      weights.push_back(origin[i]);
    }
    if (weights.size() == 1 && weights[0] == 1) {
      data_ = parts[0];
      return;
    }
    const KernelRows<T> kernel_rows(turn, parts);
    const KernelWeights kernel_weights(turn, weights);
    memory_.emplace(length * sizeof(T), turn.stream());
    form_origin<T>
        <<<static_cast<unsigned>(turn.multiprocessors()) * 8, kSmallThreads, 0, turn.stream()>>>(
            kernel_rows.table(), kernel_weights.table(), static_cast<int>(parts.size()),
            memory_->template as<T>(), length);
    check(cudaGetLastError(), "form the origin");
    data_ = memory_->template as<T>();
  }

  const T* data() const { return data_; }

 private:
  std::optional<Buffer> memory_;
  const T* data_ = nullptr;
};

template <class T>
GramPass run_centred(const Device& device, const UpdateView& view, std::span<const double> origin,
                     const TilePlan<T>& plan) {
  const std::size_t n = view.rows();
  const std::vector<const T*> rows = row_pointers<T>(view);
  const Device::Turn turn(device);
  const KernelRows<T> kernel_rows(turn, rows);
  const OriginRow<T> origin_row(turn, rows, origin, view.length());
  GramInput<T> in{.rows = kernel_rows.table(),
                  .origin = origin_row.data(),
                  .count = static_cast<int>(n + 1),
                  .vectors = aligned(rows),
                  .length = view.length(),
                  .slice = 0,
                  .zero = 0};
  const Products products = multiply_rows<T>(turn, in, plan);
  GramPass pass = plain_pass(products, n);
  for (std::size_t i = 0; i < n; ++i) {
    if (pass.scan[i].finite) pass.origin_dot[i] = products.matrix[i * (n + 1) + n];
  }
  pass.origin_sq = products.matrix.back();
  return pass;
}

// Whether float32 rows can be multiplied as integers. This needs a GPU and a build with wgmma, the
// matrix products of four warps.
bool can_use_digits(const Device& device) {
#ifdef BOBA_CUDA_90A
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.index()),
        "describe itself");
  return major == 9;
#else
  static_cast<void>(device);
  return false;
#endif
}

// Shorter rows are fast in double too.
constexpr std::size_t kLeastDigits = 8192;

template <class T>
GramPass run(const Device& device, const UpdateView& rows, std::span<const double> origin,
             Precision precision) {
  if constexpr (sizeof(T) == 4) {
    if (precision == Precision::kRows && rows.length() >= kLeastDigits && can_use_digits(device)) {
      return origin.empty() ? run_plain<T>(device, rows, digit_plan<false>())
                            : run_centred<T>(device, rows, origin, digit_plan<true>());
    }
  }
  return origin.empty() ? run_plain<T>(device, rows, double_plan<T, false>())
                        : run_centred<T>(device, rows, origin, double_plan<T, true>());
}

}  // namespace

GramPass gram(const Device& device, const UpdateView& rows, std::span<const double> origin,
              Precision precision) {
  if (rows.empty() || rows.length() == 0) {
    return {.centred = std::vector<double>(rows.rows() * rows.rows()),
            .origin_dot = std::vector<double>(rows.rows()),
            .origin_sq = 0,
            .scan = std::vector<RowScan>(rows.rows())};
  }
  return visit(rows.dtype(),
               [&](auto zero) { return run<decltype(zero)>(device, rows, origin, precision); });
}

}  // namespace boba::cuda
