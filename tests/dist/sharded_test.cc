// Every pass over shards has the bits of the same pass over whole rows.

#include "boba/dist/sharded.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <vector>

#include "boba/core/random.h"
#include "boba/core/sketch.h"
#include "boba/kernels/cpu/chunks.h"
#include "boba/kernels/cpu/cpu.h"
#include "tests/support/dist_team.h"
#include "tests/support/kernels_rows.h"

namespace boba::test {
namespace {

using boba::testing::normal_rows;
using boba::testing::Rows;

constexpr std::size_t kLengths[] = {1, 17, 2048, 2049, 10000, 131073, 140001};

// NaN is equal to itself here: bits are compared.
template <class T>
::testing::AssertionResult same_bits(std::span<const T> a, std::span<const T> b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " and " << b.size();
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (std::memcmp(&a[k], &b[k], sizeof(T)) == 0) continue;
    return ::testing::AssertionFailure() << "at " << k << ": " << a[k] << " and " << b[k];
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return same_bits<double>(std::span(a), std::span(b));
}

void expect_same(const std::vector<RowScan>& a, const std::vector<RowScan>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].finite, b[i].finite) << "row " << i;
    EXPECT_EQ(a[i].max_abs, b[i].max_abs) << "row " << i;
  }
}

void expect_same(const GramPass& a, const GramPass& b) {
  EXPECT_TRUE(same_bits(a.centred, b.centred));
  EXPECT_TRUE(same_bits(a.origin_dot, b.origin_dot));
  EXPECT_EQ(a.origin_sq, b.origin_sq);
  expect_same(a.scan, b.scan);
}

void expect_same(const DotsPass& a, const DotsPass& b) {
  EXPECT_TRUE(same_bits(a.dot, b.dot));
  EXPECT_TRUE(same_bits(a.sq_norm, b.sq_norm));
  EXPECT_EQ(a.reference_sq, b.reference_sq);
  expect_same(a.scan, b.scan);
}

// Calls body(kernels, shard) on each rank that has columns.
template <class Body>
void on_shards(int ranks, std::size_t length, const Body& body, int threads = 1) {
  run_ranks(ranks_in_use(length, ranks), [&](const Communicator& team) {
    const auto kernels = make_sharded_kernels(team, length, {.threads = threads, .grain = 1});
    body(*kernels, shard_of(length, team.rank(), team.size()));
  });
}

RowList part_of(const UpdateView& rows, const Shard& shard) {
  return RowList(rows).columns(shard.first, shard.length);
}

TEST(Shards, CoverTheColumnsInWholeChunks) {
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{2048}, std::size_t{2049}, std::size_t{199210},
        std::size_t{20000000}, std::size_t{1000000007}, std::size_t{1000000000000}}) {
    const std::size_t chunk = cpu::chunk_columns(length);
    for (const int asked : {1, 2, 3, 4, 7, 64, 5000}) {
      const int ranks = ranks_in_use(length, asked);
      ASSERT_GE(ranks, 1);
      ASSERT_LE(ranks, asked);
      std::size_t at = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Shard shard = shard_of(length, rank, ranks);
        EXPECT_EQ(shard.first, at);
        EXPECT_EQ(shard.first % chunk, 0U);
        EXPECT_GT(shard.length, 0U);
        // No rank has more than a chunk above its share.
        EXPECT_LE(shard.length, length / static_cast<std::size_t>(ranks) + 2 * chunk);
        at += shard.length;
      }
      EXPECT_EQ(at, length);
    }
  }
}

TEST(Shards, ChunksAreManyWhereRowsAreLongAndNeverTooMany) {
  EXPECT_EQ(cpu::chunk_columns(1), 2048U);
  EXPECT_EQ(cpu::ceil_divide(2000000, cpu::chunk_columns(2000000)), 62U);
  EXPECT_GE(cpu::ceil_divide(1000000000, cpu::chunk_columns(1000000000)), 1000U);
  for (std::size_t length = 1; length < std::size_t{1} << 50; length = length * 3 + 1) {
    EXPECT_LE(cpu::ceil_divide(length, cpu::chunk_columns(length)), 1024U) << length;
    EXPECT_EQ(cpu::chunk_columns(length) % cpu::kChunkUnit, 0U);
  }
}

template <class T>
void check_products(std::size_t n, std::size_t length, int ranks, int threads) {
  const Rows<T> rows = normal_rows<T>(n, length, 1, 3);
  const auto plain = make_cpu_kernels({.threads = 2});
  std::vector<double> origin(n, 0.0);
  origin[n / 2] = 0.25;
  origin[n - 1] += 0.75;
  for (const Precision precision : {Precision::kRows, Precision::kDouble}) {
    const GramPass centred = plain->gram(rows.view(), origin, precision);
    const GramPass bare = plain->gram(rows.view(), {}, precision);
    on_shards(
        ranks, length,
        [&](const Kernels& kernels, const Shard& shard) {
          const RowList part = part_of(rows.view(), shard);
          expect_same(kernels.gram(part.view(), origin, precision), centred);
          expect_same(kernels.gram(part.view(), {}, precision), bare);
          EXPECT_EQ(kernels.whole_length(part.view()), length);
        },
        threads);
  }
}

TEST(Sharded, RanksDrawOneSecretSeed) {
  std::vector<std::uint64_t> seeds(3);
  run_ranks(3, [&](const Communicator& team) {
    const auto kernels = make_sharded_kernels(team, 10000, {.threads = 1});
    const Result<std::uint64_t> seed = kernels->secret_seed();
    ASSERT_TRUE(seed);
    seeds[static_cast<std::size_t>(team.rank())] = *seed;
  });
  EXPECT_EQ(seeds[1], seeds[0]);
  EXPECT_EQ(seeds[2], seeds[0]);
  EXPECT_NE(seeds[0], 0U);
}

TEST(Sharded, GramHasTheBitsOfOneProcess) {
  for (const std::size_t length : kLengths) {
    for (const int ranks : {1, 2, 3, 4}) {
      SCOPED_TRACE(::testing::Message() << length << " columns, " << ranks << " ranks");
      check_products<float>(9, length, ranks, 1);
      check_products<double>(9, length, ranks, 2);
    }
  }
}

TEST(Sharded, GramOfManyRowsHasTheBitsOfOneProcess) {
  for (const int ranks : {2, 3}) check_products<float>(530, 4500, ranks, 1);
  check_products<double>(520, 4200, 3, 2);
}

template <class T>
void check_dots(std::size_t length, int ranks) {
  const Rows<T> rows = normal_rows<T>(11, length, 2, 1);
  const Rows<T> reference = normal_rows<T>(3, length, 1, 1);
  const std::vector<double> weights = {0.5, 0, -2};
  const auto plain = make_cpu_kernels({.threads = 2});
  const DotsPass norms = plain->dots(rows.view(), {}, {});
  const DotsPass products = plain->dots(rows.view(), reference.view(), weights);
  on_shards(ranks, length, [&](const Kernels& kernels, const Shard& shard) {
    const RowList part = part_of(rows.view(), shard);
    expect_same(kernels.dots(part.view(), {}, {}), norms);
    expect_same(kernels.dots(part.view(), part_of(reference.view(), shard).view(), weights),
                products);
  });
}

TEST(Sharded, DotsHaveTheBitsOfOneProcess) {
  for (const std::size_t length : kLengths) {
    for (const int ranks : {1, 2, 3, 4}) {
      SCOPED_TRACE(::testing::Message() << length << " columns, " << ranks << " ranks");
      check_dots<float>(length, ranks);
      check_dots<double>(length, ranks);
    }
  }
}

TEST(Sharded, SketchesHaveTheBitsOfOneProcess) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{50}}) {
    for (const std::size_t length : {std::size_t{5000}, std::size_t{20001}}) {
      Rows<float> rows = normal_rows<float>(n, length);
      rows[n - 1][length - 1] = std::numeric_limits<float>::quiet_NaN();
      const SketchPlan plan{.seed = 5, .round = 2, .length = 256};
      const auto plain = make_cpu_kernels();
      std::vector<double> expected(n * plan.length, 7.0);
      const auto scan = plain->sketch(rows.view(), plan, expected);
      EXPECT_FALSE(scan.back().finite);
      for (const int ranks : {2, 3, 4}) {
        on_shards(ranks, length, [&](const Kernels& kernels, const Shard& shard) {
          std::vector<double> sketches(n * plan.length, 3.0);
          const RowList part = part_of(rows.view(), shard);
          expect_same(kernels.sketch(part.view(), plan, sketches), scan);
          EXPECT_TRUE(same_bits(sketches, expected));
        });
      }
    }
  }
}

// Writes an output with whole rows and with shards, and compares both.
template <class T, class Pass>
void check_output(const Rows<T>& rows, int ranks, const Pass& pass) {
  const auto plain = make_cpu_kernels({.threads = 2});
  std::vector<T> expected(rows.length(), T{1});
  const OutputPass whole = pass(*plain, rows.view(), MutableRow(std::span(expected)));
  std::vector<T> out(rows.length(), T{1});
  on_shards(ranks, rows.length(), [&](const Kernels& kernels, const Shard& shard) {
    const OutputPass sharded = pass(kernels, part_of(rows.view(), shard).view(),
                                    MutableRow(std::span(out).subspan(shard.first, shard.length)));
    EXPECT_EQ(sharded.finite, whole.finite);
    expect_same(sharded.scan, whole.scan);
  });
  EXPECT_TRUE(same_bits<T>(out, expected));
}

template <class T>
void check_outputs(std::size_t length, int ranks) {
  const Rows<T> rows = normal_rows<T>(9, length, 1, 2);
  const std::vector<double> weights = {0.1, 0, 0.3, -0.5, 1, 0, 0.2, 0.4, 0.7};
  check_output(rows, ranks, [&](const Kernels& kernels, const UpdateView& view, MutableRow out) {
    return kernels.combine(view, weights, 0.5, out);
  });
  Mix mix;
  mix.add(std::vector<Mix::Term>{{0, 0.5}, {4, 0.5}});
  mix.add(std::vector<Mix::Term>{{1, 1.0}});
  mix.add(std::vector<Mix::Term>{{2, 0.25}, {8, 0.75}});
  for (const Mix* used : {static_cast<const Mix*>(nullptr), static_cast<const Mix*>(&mix)}) {
    check_output(rows, ranks, [&](const Kernels& kernels, const UpdateView& view, MutableRow out) {
      return kernels.order_mean(view, used, 1, 2, out);
    });
  }
  check_output(rows, ranks, [&](const Kernels& kernels, const UpdateView& view, MutableRow out) {
    return kernels.moments(view, 1, -1.5, out);
  });
  check_output(rows, ranks, [&](const Kernels& kernels, const UpdateView&, MutableRow out) {
    return kernels.normal({3, 1, 4, Purpose::kGauss}, 2.5, out);
  });
}

TEST(Sharded, OutputsHaveTheBitsOfOneProcess) {
  for (const std::size_t length : kLengths) {
    for (const int ranks : {1, 2, 3, 4}) {
      SCOPED_TRACE(::testing::Message() << length << " columns, " << ranks << " ranks");
      check_outputs<float>(length, ranks);
      check_outputs<double>(length, ranks);
    }
  }
}

TEST(Sharded, WhatOneRankSeesAllKnow) {
  constexpr std::size_t kLength = 9000;
  Rows<float> rows = normal_rows<float>(6, kLength);
  rows[1][0] = std::numeric_limits<float>::quiet_NaN();
  rows[2][kLength - 1] = -std::numeric_limits<float>::infinity();
  rows[3][4000] = 3e38F;
  rows[4][kLength - 1] = -3e38F;
  const auto plain = make_cpu_kernels();
  const GramPass gram = plain->gram(rows.view(), {});
  const DotsPass dots = plain->dots(rows.view(), {}, {});
  EXPECT_FALSE(gram.scan[1].finite);
  on_shards(4, kLength, [&](const Kernels& kernels, const Shard& shard) {
    const RowList part = part_of(rows.view(), shard);
    expect_same(kernels.gram(part.view(), {}), gram);
    expect_same(kernels.dots(part.view(), {}, {}), dots);
  });
  const std::vector<double> overflowing = {1, 0, 0, 3, 0, 1};
  check_output(rows, 4, [&](const Kernels& kernels, const UpdateView& view, MutableRow out) {
    const OutputPass pass = kernels.combine(view, overflowing, 0, out);
    EXPECT_FALSE(pass.finite);
    return pass;
  });
}

TEST(Sharded, AWindowOfColumnsMayLieOnSeveralRanks) {
  constexpr std::size_t kLength = 12288;  // six chunks
  const Rows<double> rows = normal_rows<double>(5, kLength);
  const auto plain = make_cpu_kernels();
  for (const std::size_t first :
       {std::size_t{0}, std::size_t{2000}, std::size_t{4095}, std::size_t{5120}, kLength - 2048}) {
    const GramPass expected = plain->gram_of_columns(rows.view(), first, 2048);
    expect_same(expected, plain->gram(RowList(rows.view()).columns(first, 2048).view(), {}));
    for (const int ranks : {2, 3, 4}) {
      on_shards(ranks, kLength, [&](const Kernels& kernels, const Shard& shard) {
        const RowList part = part_of(rows.view(), shard);
        expect_same(kernels.gram_of_columns(part.view(), first, 2048), expected);
        expect_same(kernels.for_whole_rows().gram(rows.view(), {}), plain->gram(rows.view(), {}));
      });
    }
  }
}

// A row whose neighbouring memory may not be touched.
class FencedRow {
 public:
  explicit FencedRow(std::span<const float> numbers) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    inside_ = cpu::ceil_divide(numbers.size_bytes(), page) * page;
    base_ = static_cast<std::byte*>(
        ::mmap(nullptr, inside_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    size_ = inside_ + 2 * page;
    ::mprotect(base_ + page, inside_, PROT_READ | PROT_WRITE);
    data_ = reinterpret_cast<float*>(base_ + page + inside_ - numbers.size_bytes());
    std::copy(numbers.begin(), numbers.end(), data_);
  }
  ~FencedRow() { ::munmap(base_, size_); }
  FencedRow(const FencedRow&) = delete;
  FencedRow& operator=(const FencedRow&) = delete;

  const float* data() const { return data_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t inside_ = 0;
  std::size_t size_ = 0;
  float* data_ = nullptr;
};

TEST(Sharded, ReadsNothingButItsOwnColumns) {
  constexpr std::size_t kLength = 30001;
  const Rows<float> rows = normal_rows<float>(7, kLength);
  const std::vector<double> weights(7, 0.5);
  on_shards(3, kLength, [&](const Kernels& kernels, const Shard& shard) {
    std::vector<std::unique_ptr<FencedRow>> fenced;
    std::vector<const float*> table;
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      fenced.push_back(std::make_unique<FencedRow>(rows[i].subspan(shard.first, shard.length)));
      table.push_back(fenced.back()->data());
    }
    const UpdateView view(std::span<const float* const>(table), shard.length);
    std::vector<float> out(shard.length);
    std::vector<double> sketches(rows.rows() * 128);
    kernels.gram(view, weights);
    kernels.dots(view, view, weights);
    kernels.sketch(view, {.seed = 1, .round = 0, .length = 128}, sketches);
    kernels.combine(view, weights, 0, MutableRow(std::span(out)));
    kernels.order_mean(view, nullptr, 3, 4, MutableRow(std::span(out)));
    kernels.moments(view, 1, 1, MutableRow(std::span(out)));
    kernels.gram_of_columns(view, 14000, 2048);
  });
}

TEST(Sharded, SaysWhatItIs) {
  on_shards(3, 100000, [&](const Kernels& kernels, const Shard&) {
    EXPECT_TRUE(kernels.name().starts_with("3 ranks of cpu, 1 thread")) << kernels.name();
  });
}

}  // namespace
}  // namespace boba::test
