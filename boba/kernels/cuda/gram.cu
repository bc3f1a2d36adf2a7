// All inner products, the origin subtracted first.
//
// float32 rows go to the tensor cores as integers, float64 rows in double, and so do float32 rows
// where more is asked for.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "boba/kernels/cuda/gram_digits.cuh"
#include "boba/kernels/cuda/gram_kernels.cuh"
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

// How the tiles are multiplied.
template <class T>
struct Way {
  TileKernel<T> diagonal;
  TileKernel<T> above;
  std::size_t stretches;
  std::size_t columns;  // of a step
};

template <class T, bool Centred>
Way<T> in_double() {
  constexpr std::size_t kShared = kTileElements<T> * 2 * (sizeof(double) + sizeof(T));
  return {.diagonal = {diagonal_kernel<T, Centred>, kDiagonalThreads, kShared},
          .above = {above_kernel<T, Centred>, kAboveThreads, 2 * kShared},
          .stretches = kStretches,
          .columns = kColumns<T>};
}

template <bool Centred>
Way<float> in_digits() {
  return {.diagonal = {diagonal_digits<Centred>, kDiagonalDigitThreads, kDiagonalShared<Centred>},
          .above = {above_digits<Centred>, kAboveDigitThreads, kAboveShared<Centred>},
          .stretches = kDigitStretches,
          .columns = kDiagonalColumns};
}

template <class T>
void multiply_tiles(const Device::Turn& turn, const GramInput<T>& in, const TileKernel<T>& kernel,
                    TileSet tiles, std::size_t count, Bits<T>* bits, double* matrix) {
  if (count == 0) return;
  const auto stretches = static_cast<int>((in.length + in.stretch - 1) / in.stretch);
  allow_shared(kernel.kernel, kernel.shared);
  // As many tiles at a time as keep the partial sums within a few hundred megabytes.
  constexpr std::size_t kAtOnce = 16;
  constexpr std::size_t kDoubles = static_cast<std::size_t>(kBlockRows) * kBlockRows;
  const Buffer partial(
      std::min(kAtOnce, count) * static_cast<std::size_t>(stretches) * kDoubles * sizeof(double),
      turn.stream());
  for (std::size_t from = 0; from < count; from += kAtOnce) {
    const auto some = static_cast<unsigned>(std::min(kAtOnce, count - from));
    tiles.first = static_cast<int>(from);
    kernel.kernel<<<dim3(static_cast<unsigned>(stretches), some),
                    static_cast<unsigned>(kernel.threads), kernel.shared, turn.stream()>>>(
        in, tiles, partial.as<double>(), bits);
    add_stretches<<<dim3(kDoubles / kPlain, some), kPlain, 0, turn.stream()>>>(
        tiles, partial.as<double>(), stretches, in.count, matrix);
    check(cudaGetLastError(), "multiply rows");
  }
}

// All products of the rows, the origin the last of them where it is subtracted.
struct Products {
  std::vector<double> matrix;
  std::vector<RowScan> scan;
};

template <class T>
Products multiply_rows(const Device::Turn& turn, GramInput<T>& in, const Way<T>& way) {
  const auto count = static_cast<std::size_t>(in.count);
  in.stretch = ((in.length + way.stretches - 1) / way.stretches + way.columns - 1) / way.columns *
               way.columns;
  const std::size_t matrix_bytes = count * count * sizeof(double);
  const std::size_t bits_bytes = count * sizeof(Bits<T>);
  const Buffer result(matrix_bytes + bits_bytes, turn.stream());
  auto* bits = reinterpret_cast<Bits<T>*>(result.as<char>() + matrix_bytes);
  check(cudaMemsetAsync(bits, 0, bits_bytes, turn.stream()), "clear");
  const std::size_t blocks = (count + kBlockRows - 1) / kBlockRows;
  const TileSet tiles{.diagonal = true, .first = 0, .blocks = static_cast<int>(blocks)};
  multiply_tiles(turn, in, way.diagonal, tiles, blocks, bits, result.as<double>());
  multiply_tiles(turn, in, way.above, {.diagonal = false, .first = 0, .blocks = tiles.blocks},
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

// A pass with everything that is known without the origin, and zeros where a row is not finite.
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
GramPass run_plain(const Device& device, const UpdateView& view, const Way<T>& way) {
  const std::vector<const T*> rows = row_pointers<T>(view);
  const Device::Turn turn(device);
  const HandedRows<T> handed(turn, rows);
  GramInput<T> in{.rows = handed.table(),
                  .origin = nullptr,
                  .count = static_cast<int>(rows.size()),
                  .vectors = aligned(rows),
                  .length = view.length(),
                  .stretch = 0,
                  .zero = 0};
  return plain_pass(multiply_rows<T>(turn, in, way), rows.size());
}

// The origin's row: one of the rows as it is, or a sum in memory of its own.
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
    const HandedRows<T> handed(turn, parts);
    const HandedWeights handed_weights(turn, weights);
    memory_.emplace(length * sizeof(T), turn.stream());
    form_origin<T><<<static_cast<unsigned>(turn.multiprocessors()) * 8, kPlain, 0, turn.stream()>>>(
        handed.table(), handed_weights.table(), static_cast<int>(parts.size()),
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
                     const Way<T>& way) {
  const std::size_t n = view.rows();
  const std::vector<const T*> rows = row_pointers<T>(view);
  const Device::Turn turn(device);
  const HandedRows<T> handed(turn, rows);
  const OriginRow<T> origin_row(turn, rows, origin, view.length());
  GramInput<T> in{.rows = handed.table(),
                  .origin = origin_row.data(),
                  .count = static_cast<int>(n + 1),
                  .vectors = aligned(rows),
                  .length = view.length(),
                  .stretch = 0,
                  .zero = 0};
  const Products products = multiply_rows<T>(turn, in, way);
  GramPass pass = plain_pass(products, n);
  for (std::size_t i = 0; i < n; ++i) {
    if (pass.scan[i].finite) pass.origin_dot[i] = products.matrix[i * (n + 1) + n];
  }
  pass.origin_sq = products.matrix.back();
  return pass;
}

// Whether float32 rows can be multiplied as integers: the GPU and the build must have products of
// groups of warps.
bool has_digits(const Device& device) {
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

// Shorter rows take no time in double either.
constexpr std::size_t kLeastDigits = 8192;

template <class T>
GramPass run(const Device& device, const UpdateView& rows, std::span<const double> origin,
             Precision precision) {
  if constexpr (sizeof(T) == 4) {
    if (precision == Precision::kRows && rows.length() >= kLeastDigits && has_digits(device)) {
      return origin.empty() ? run_plain<T>(device, rows, in_digits<false>())
                            : run_centred<T>(device, rows, origin, in_digits<true>());
    }
  }
  return origin.empty() ? run_plain<T>(device, rows, in_double<T, false>())
                        : run_centred<T>(device, rows, origin, in_double<T, true>());
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
