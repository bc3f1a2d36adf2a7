// All inner products, on the tensor cores in double.
//
// Products in double are exact for float32 rows, so rows are multiplied as they are and centred
// afterwards. Where the rows have so much in common that this would lose digits of theirs, where
// more is asked for, and for float64 rows, the origin is subtracted from the rows first.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "boba/kernels/cuda/gram_kernels.cuh"
#include "boba/kernels/cuda/passes.h"

namespace boba::cuda {
namespace {

// The tiles of the matrix: on the diagonal, then above it.
struct Tiles {
  std::vector<int2> diagonal;
  std::vector<int2> above;
};

Tiles tiles_of(std::size_t count) {
  const auto blocks = static_cast<int>((count + kBlockRows - 1) / kBlockRows);
  Tiles tiles;
  for (int i = 0; i < blocks; ++i) {
    tiles.diagonal.push_back({i, i});
    for (int j = i + 1; j < blocks; ++j) tiles.above.push_back({i, j});
  }
  return tiles;
}

// blocks: of rows in a tile's sides, 1 or 2.
template <class T, class Kernel>
void multiply_tiles(const Device::Turn& turn, const GramInput<T>& in, Kernel kernel, int threads,
                    std::size_t blocks, const std::vector<int2>& tiles, Bits<T>* bits,
                    double* matrix) {
  if (tiles.empty()) return;
  const auto stretches = static_cast<int>((in.length + in.stretch - 1) / in.stretch);
  const std::size_t shared = blocks * kTileElements<T> * 2 * (sizeof(double) + sizeof(T));
  allow_shared(kernel, shared);
  // As many tiles at a time as keep the partial sums within a few hundred megabytes.
  constexpr std::size_t kAtOnce = 16;
  constexpr std::size_t kDoubles = static_cast<std::size_t>(kBlockRows) * kBlockRows;
  const Buffer partial(std::min(kAtOnce, tiles.size()) * static_cast<std::size_t>(stretches) *
                           kDoubles * sizeof(double),
                       turn.stream());
  const Buffer pairs(tiles.size() * sizeof(int2), turn.stream());
  turn.upload(pairs.as<void>(), tiles.data(), tiles.size() * sizeof(int2));
  for (std::size_t from = 0; from < tiles.size(); from += kAtOnce) {
    const auto some = static_cast<unsigned>(std::min(kAtOnce, tiles.size() - from));
    kernel<<<dim3(static_cast<unsigned>(stretches), some), static_cast<unsigned>(threads), shared,
             turn.stream()>>>(in, pairs.as<int2>() + from, partial.as<double>(), bits);
    add_stretches<<<dim3(kDoubles / kPlain, some), kPlain, 0, turn.stream()>>>(
        pairs.as<int2>() + from, partial.as<double>(), stretches, in.count, matrix);
    check(cudaGetLastError(), "multiply rows");
  }
}

// All products of the rows, the origin the last of them where it is subtracted.
struct Products {
  std::vector<double> matrix;
  std::vector<RowScan> scan;
};

template <class T, bool Centred>
Products multiply_rows(const Device::Turn& turn, GramInput<T>& in) {
  const auto count = static_cast<std::size_t>(in.count);
  in.stretch =
      ((in.length + kStretches - 1) / kStretches + kColumns<T> - 1) / kColumns<T> * kColumns<T>;
  const std::size_t matrix_bytes = count * count * sizeof(double);
  const std::size_t bits_bytes = count * sizeof(Bits<T>);
  const Buffer result(matrix_bytes + bits_bytes, turn.stream());
  auto* bits = reinterpret_cast<Bits<T>*>(result.as<char>() + matrix_bytes);
  check(cudaMemsetAsync(bits, 0, bits_bytes, turn.stream()), "clear");
  const Tiles tiles = tiles_of(count);
  multiply_tiles(turn, in, diagonal_kernel<T, Centred>, kDiagonalThreads, 1, tiles.diagonal, bits,
                 result.as<double>());
  multiply_tiles(turn, in, above_kernel<T, Centred>, kAboveThreads, 2, tiles.above, bits,
                 result.as<double>());
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

// Whether the origin may be too large for the rows' type, where it is to stop at its largest
// number.
template <class T>
bool may_overflow(std::span<const RowScan> scan, std::span<const double> weights) {
  double bound = 0;
  for (std::size_t i = 0; i < scan.size(); ++i) bound += std::abs(weights[i]) * scan[i].max_abs;
  return bound > static_cast<double>(std::numeric_limits<T>::max());
}

// Where less than this part of the squared norms is left about the origin, the rows have so much in
// common that double products lose digits which float32 rows have.
constexpr double kLeastPart = 0x1p-22;

// The middle one of the rows' squared sizes about the origin; at least half would have to lie to
// move it.
double middle_square(const GramPass& pass) {
  const std::size_t n = pass.scan.size();
  std::vector<double> squares;
  for (std::size_t i = 0; i < n; ++i) {
    if (pass.scan[i].finite) squares.push_back(pass.centred[i * n + i]);
  }
  if (squares.empty()) return 0;
  const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
  std::nth_element(squares.begin(), middle, squares.end());
  return *middle;
}

// Moves the origin of a pass: o = sum of weights[i] * a_i.
void move_origin(std::span<const double> weights, GramPass& pass) {
  const std::size_t n = pass.scan.size();
  std::vector<double> dot(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    if (weights[j] == 0) continue;
    for (std::size_t i = 0; i < n; ++i) dot[i] += weights[j] * pass.centred[j * n + i];
  }
  for (std::size_t j = 0; j < n; ++j) pass.origin_sq += weights[j] * dot[j];
  for (std::size_t i = 0; i < n; ++i) {
    if (!pass.scan[i].finite) continue;
    pass.origin_dot[i] = dot[i] - pass.origin_sq;
    for (std::size_t j = 0; j < n; ++j) {
      if (!pass.scan[j].finite) continue;
      pass.centred[i * n + j] = (pass.centred[i * n + j] - dot[i]) - (dot[j] - pass.origin_sq);
    }
  }
  // Symmetric to the last bit.
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) pass.centred[i * n + j] = pass.centred[j * n + i];
  }
}

template <class T>
GramPass run_plain(const Device& device, const UpdateView& view) {
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
  return plain_pass(multiply_rows<T, false>(turn, in), rows.size());
}

template <class T>
GramPass run_centred(const Device& device, const UpdateView& view, std::span<const double> origin) {
  const std::size_t n = view.rows();
  const std::vector<const T*> rows = row_pointers<T>(view);
  std::vector<const T*> parts;
  std::vector<double> weights;
  for (std::size_t i = 0; i < n; ++i) {
    if (origin[i] == 0) continue;
    parts.push_back(rows[i]);
    weights.push_back(origin[i]);
  }
  const Device::Turn turn(device);
  const HandedRows<T> handed(turn, rows);
  const HandedRows<T> handed_parts(turn, parts);
  const HandedWeights handed_weights(turn, weights);
  const Buffer origin_row(view.length() * sizeof(T), turn.stream());
  form_origin<T><<<static_cast<unsigned>(turn.multiprocessors()) * 8, kPlain, 0, turn.stream()>>>(
      handed_parts.table(), handed_weights.table(), static_cast<int>(parts.size()),
      origin_row.as<T>(), view.length());
  check(cudaGetLastError(), "form the origin");
  GramInput<T> in{.rows = handed.table(),
                  .origin = origin_row.as<T>(),
                  .count = static_cast<int>(n + 1),
                  .vectors = aligned(rows),
                  .length = view.length(),
                  .stretch = 0,
                  .zero = 0};
  const Products products = multiply_rows<T, true>(turn, in);
  GramPass pass = plain_pass(products, n);
  for (std::size_t i = 0; i < n; ++i) {
    if (pass.scan[i].finite) pass.origin_dot[i] = products.matrix[i * (n + 1) + n];
  }
  pass.origin_sq = products.matrix.back();
  return pass;
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
  return visit(rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (origin.empty()) return run_plain<T>(device, rows);
    if (sizeof(T) == 8 || precision == Precision::kDouble) {
      return run_centred<T>(device, rows, origin);
    }
    GramPass pass = run_plain<T>(device, rows);
    if (may_overflow<T>(pass.scan, origin)) return run_centred<T>(device, rows, origin);
    const double before = middle_square(pass);
    move_origin(origin, pass);
    return middle_square(pass) < kLeastPart * before ? run_centred<T>(device, rows, origin) : pass;
  });
}

}  // namespace boba::cuda
