#include "boba/dist/sharded.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <vector>

#include "boba/core/random.h"
#include "boba/core/sketch.h"
#include "boba/kernels/cpu/passes.h"

namespace boba {
namespace {

constexpr std::size_t kStripe = 8192;    // numbers that travel at a time: ranks work side by side
constexpr std::size_t kSketchRows = 16;  // at least so many at a time: each time draws the lines

template <class T>
std::span<std::byte> bytes_of(std::span<T> numbers) {
  return std::as_writable_bytes(numbers);
}

class ShardedKernels final : public Kernels {
 public:
  ShardedKernels(const Communicator& ranks, std::size_t length, const CpuOptions& options)
      : ranks_(ranks),
        machine_(cpu::machine_of(options)),
        whole_(make_cpu_kernels(options)),
        columns_{length, shard_of(length, ranks.rank(), ranks.size()).first} {}

  std::string name() const override {
    return fmt::format("{} ranks of {}", ranks_.size(), whole_->name());
  }

  GramPass gram(const UpdateView& rows, std::span<const double> origin,
                Precision precision) const override {
    if (rows.empty()) return whole_->gram(rows, origin, precision);
    cpu::ChunkSums sums =
        cpu::gram_sums(machine_, rows, origin, precision, columns_, ranks_.rank() == 0);
    const std::vector<double> total = add_up(sums);
    return cpu::gram_pass(rows, !origin.empty(), precision, total, sums.bits);
  }

  DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                std::span<const double> weights) const override {
    cpu::ChunkSums sums = cpu::dots_sums(machine_, rows, reference, weights, columns_);
    const std::vector<double> total = add_up(sums);
    return cpu::dots_pass(rows, !reference.empty(), total, sums.bits);
  }

  // The sketches travel too, some rows at a time, and each rank adds its columns.
  std::vector<RowScan> sketch(const UpdateView& rows, const SketchPlan& plan,
                              std::span<double> out) const override {
    SketchPlan mine = plan;
    mine.first = plan.first + columns_.first;
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    const std::size_t step = std::max(kSketchRows, cpu::ceil_divide(rows.rows(), 4 * ranks));
    std::vector<RowScan> scan;
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t begin = 0; begin < rows.rows(); begin += step) {
      const std::size_t count = std::min(step, rows.rows() - begin);
      const auto part = out.subspan(begin * plan.length, count * plan.length);
      RowList some(rows.dtype(), rows.length());
      for (std::size_t i = begin; i < begin + count; ++i) some.add(rows, i);
      pass_on(part, [&] {
        for (const RowScan& row : cpu::add_sketches(machine_, some.view(), mine, part)) {
          scan.push_back(row);
        }
      });
    }
    ranks_.broadcast(ranks_.size() - 1, bytes_of(out));
    OutputPass all = merged({.finite = true, .scan = std::move(scan)});
    for (std::size_t i = 0; i < all.scan.size(); ++i) {
      if (!all.scan[i].finite) std::ranges::fill(out.subspan(i * plan.length, plan.length), 0.0);
    }
    return std::move(all.scan);
  }

  OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                     MutableRow out) const override {
    return merged(cpu::combine(machine_, rows, weights, keep, out));
  }
  OutputPass order_mean(const UpdateView& rows, const Mix* mix, std::size_t first, std::size_t last,
                        MutableRow out) const override {
    return merged(cpu::order_mean(machine_, rows, mix, first, last, out));
  }
  OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                     MutableRow out) const override {
    return merged(cpu::moments(machine_, rows, mean_factor, deviation_factor, out));
  }
  OutputPass normal(const StreamKey& key, double sigma, MutableRow out) const override {
    return merged(cpu::normal(machine_, key, sigma, columns_.first, out));
  }

  std::size_t whole_length(const UpdateView& /*rows*/) const override { return columns_.whole; }

  // Everyone gets these columns: they are few.
  GramPass gram_of_columns(const UpdateView& rows, std::size_t first,
                           std::size_t count) const override {
    UpdateMatrix window(rows.dtype(), rows.rows(), count);
    visit(rows.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (int rank = 0; rank < ranks_.size(); ++rank) collect<T>(rows, first, rank, window);
    });
    return whole_->gram(window.view(), {});
  }

  const Kernels& for_whole_rows() const override { return *whole_; }

  // Drawn by rank 0.
  Result<std::uint64_t> secret_seed() const override {
    Result<std::uint64_t> drawn = std::uint64_t{0};
    if (ranks_.rank() == 0) drawn = fresh_seed();
    const Result<void> good = agree(ranks_, drawn ? Result<void>() : Result<void>(drawn.error()));
    if (!good) return good.error();
    std::uint64_t seed = *drawn;
    ranks_.broadcast(0, bytes_of(std::span<std::uint64_t>(&seed, 1)));
    return seed;
  }

 private:
  // What a rank holds of the columns from `first` on that fit the window.
  template <class T>
  void collect(const UpdateView& rows, std::size_t first, int rank, UpdateMatrix& window) const {
    const Shard shard = shard_of(columns_.whole, rank, ranks_.size());
    const std::size_t begin = std::max(first, shard.first);
    const std::size_t end = std::min(first + window.length(), shard.first + shard.length);
    if (begin >= end) return;
    const std::size_t width = end - begin;
    std::vector<T> part(rows.rows() * width);
    if (rank == ranks_.rank()) {
      for (std::size_t i = 0; i < rows.rows(); ++i) {
        std::copy_n(rows.row<T>(i) + (begin - shard.first), width, part.data() + i * width);
      }
    }
    ranks_.broadcast(rank, bytes_of(std::span(part)));
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      std::copy_n(part.data() + i * width, width, window.row_as<T>(i).data() + (begin - first));
    }
  }

  // Body adds to the numbers, which are those of the ranks before.
  template <class Body>
  void pass_on(std::span<double> numbers, const Body& body) const {
    if (ranks_.rank() > 0) ranks_.receive(ranks_.rank() - 1, bytes_of(numbers));
    body();
    if (ranks_.rank() + 1 < ranks_.size()) ranks_.send(ranks_.rank() + 1, bytes_of(numbers));
  }

  // The sums of all chunks of all ranks, added in their order; sums.bits become those of all.
  std::vector<double> add_up(cpu::ChunkSums& sums) const {
    std::vector<double> total(sums.width, 0.0);
    for (std::size_t begin = 0; begin < sums.width; begin += kStripe) {
      const std::size_t end = std::min(sums.width, begin + kStripe);
      pass_on(std::span(total).subspan(begin, end - begin),
              [&] { sums.add_to(total, begin, end); });
    }
    ranks_.broadcast(ranks_.size() - 1, bytes_of(std::span(total)));
    ranks_.all_max(sums.bits);
    return total;
  }

  // What all ranks saw. Absolute values order like their bits, and NaN counts as larger than all.
  OutputPass merged(OutputPass pass) const {
    std::vector<std::uint64_t> seen;
    for (const RowScan& row : pass.scan) {
      seen.push_back(row.finite ? std::bit_cast<std::uint64_t>(row.max_abs) : UINT64_MAX);
    }
    seen.push_back(pass.finite ? 0 : 1);
    ranks_.all_max(seen);
    pass.finite = seen.back() == 0;
    for (std::size_t i = 0; i < pass.scan.size(); ++i) {
      const bool finite = seen[i] != UINT64_MAX;
      pass.scan[i] = {.finite = finite, .max_abs = finite ? std::bit_cast<double>(seen[i]) : 0};
    }
    return pass;
  }

  const Communicator& ranks_;
  cpu::Machine machine_;
  std::unique_ptr<const Kernels> whole_;
  cpu::Columns columns_;
};

}  // namespace

int ranks_in_use(std::size_t length, int ranks) {
  const std::size_t chunks = cpu::ceil_divide(length, cpu::chunk_columns(length));
  return static_cast<int>(std::min(chunks, static_cast<std::size_t>(ranks)));
}

Shard shard_of(std::size_t length, int rank, int ranks) {
  const std::size_t chunk = cpu::chunk_columns(length);
  const std::size_t chunks = cpu::ceil_divide(length, chunk);
  const auto begin_of = [&](int r) {
    const std::size_t share =
        chunks * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks);
    return std::min(length, share * chunk);
  };
  const std::size_t first = begin_of(rank);
  return {first, begin_of(rank + 1) - first};
}

std::unique_ptr<const Kernels> make_sharded_kernels(const Communicator& ranks, std::size_t length,
                                                    const CpuOptions& options) {
  assert(ranks_in_use(length, ranks.size()) == ranks.size());
  return std::make_unique<ShardedKernels>(ranks, length, options);
}

SimdLevel common_simd(const Communicator& ranks) {
  constexpr SimdLevel kWidestFirst[] = {SimdLevel::kAvx512, SimdLevel::kAvx2};
  std::uint64_t lacking[std::size(kWidestFirst)];
  for (std::size_t k = 0; k < std::size(kWidestFirst); ++k) {
    lacking[k] = simd_supported(kWidestFirst[k]) ? 0 : 1;
  }
  ranks.all_max(lacking);
  for (std::size_t k = 0; k < std::size(kWidestFirst); ++k) {
    if (lacking[k] == 0) return kWidestFirst[k];
  }
  return SimdLevel::kBaseline;
}

}  // namespace boba
