#include "boba/kernels/cpu/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "boba/core/random.h"

namespace boba::testing {
namespace {

template <class Number>
void apply(const std::vector<cpu::Comparator>& network, std::vector<Number>& numbers) {
  for (const cpu::Comparator& c : network) {
    if (numbers[c.high] < numbers[c.low]) std::swap(numbers[c.low], numbers[c.high]);
  }
}

template <class Number>
void sort_blocks(std::vector<Number>& numbers, std::size_t size) {
  for (auto it = numbers.begin(); numbers.end() - it >= static_cast<std::ptrdiff_t>(size);) {
    const auto end = it + static_cast<std::ptrdiff_t>(size);
    std::sort(it, end);
    it = end;
  }
}

// A network that works for all inputs of zeros and ones works for all inputs (Knuth, volume 3,
// 5.3.4), and the same argument holds for selecting a set of places.
TEST(Network, SelectsForAllZerosAndOnes) {
  for (std::size_t n = 1; n <= 11; ++n) {
    for (std::size_t first = 0; first < n; ++first) {
      for (std::size_t last = first + 1; last <= n; ++last) {
        const std::size_t blocks = std::size_t{1} << first % 4;
        const auto network = cpu::selection_network(n, first, last, blocks);
        for (std::uint32_t input = 0; input < 1U << n; ++input) {
          std::vector<int> numbers(n);
          for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<int>(input >> i & 1);
          std::vector<int> sorted = numbers;
          std::sort(sorted.begin(), sorted.end());
          sort_blocks(numbers, blocks);
          apply(network, numbers);
          const auto sum = [&](const std::vector<int>& v) {
            return std::accumulate(v.begin() + static_cast<std::ptrdiff_t>(first),
                                   v.begin() + static_cast<std::ptrdiff_t>(last), 0);
          };
          ASSERT_EQ(sum(numbers), sum(sorted)) << n << ' ' << first << ' ' << last;
        }
      }
    }
  }
}

TEST(Network, SelectsForLargeN) {
  for (const std::size_t n : {115, 128, 511, 1024}) {
    const std::size_t first = n / 7, last = n - n / 7;
    const auto network = cpu::selection_network(n, first, last);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<std::size_t> numbers = permutation({.seed = seed}, n);
      apply(network, numbers);
      std::sort(numbers.begin() + static_cast<std::ptrdiff_t>(first),
                numbers.begin() + static_cast<std::ptrdiff_t>(last));
      for (std::size_t i = first; i < last; ++i) ASSERT_EQ(numbers[i], i);
    }
  }
}

// Applies steps to blocks. What a step need not leave sorted it leaves sorted backwards, and it
// fails on a block that is not sorted: a missing order cannot go by unseen.
template <class Number>
void apply(const cpu::BlockNetwork& network, std::size_t size, std::vector<Number>& numbers) {
  ASSERT_EQ(numbers.size(), network.rows);
  const auto half = static_cast<std::ptrdiff_t>(size);
  for (const cpu::BlockStep& step : network.steps) {
    const auto low = numbers.begin() + step.low * half;
    const auto high = numbers.begin() + step.high * half;
    ASSERT_TRUE(std::is_sorted(low, low + half) && std::is_sorted(high, high + half));
    std::vector<Number> both(low, low + half);
    both.insert(both.end(), high, high + half);
    std::sort(both.begin(), both.end());
    std::copy_n(both.begin(), half, low);
    std::copy_n(both.begin() + half, half, high);
    if (!step.sort_low) std::reverse(low, low + half);
    if (!step.sort_high) std::reverse(high, high + half);
  }
}

// The numbers with the filling behind them, blocks sorted.
template <class Number>
std::vector<Number> filled(const cpu::BlockNetwork& network, std::vector<Number> numbers,
                           Number least, Number largest, std::size_t block) {
  numbers.resize(numbers.size() + network.below, least);
  EXPECT_LE(numbers.size(), network.rows);
  EXPECT_LT(network.rows, numbers.size() + block);
  numbers.resize(network.rows, largest);
  sort_blocks(numbers, block);
  return numbers;
}

TEST(Network, BlocksSelectForAllZerosAndOnes) {
  for (std::size_t n = 1; n <= 11; ++n) {
    for (std::size_t first = 0; first < n; ++first) {
      for (std::size_t last = first + 1; last <= n; ++last) {
        const std::size_t block = n % 2 == 0 ? 2 : std::size_t{1} << first % 4;
        const auto network = cpu::block_network(n, first, last, block);
        for (std::uint32_t input = 0; input < 1U << n; ++input) {
          std::vector<int> numbers(n);
          for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<int>(input >> i & 1);
          std::vector<int> sorted = numbers;
          std::sort(sorted.begin(), sorted.end());
          numbers = filled(network, numbers, -100, 100, block);
          ASSERT_NO_FATAL_FAILURE(apply(network, block, numbers));
          const auto sum = [&](const std::vector<int>& v, std::size_t from) {
            const auto begin = v.begin() + static_cast<std::ptrdiff_t>(from);
            return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(last - first), 0);
          };
          ASSERT_EQ(sum(numbers, network.below + first), sum(sorted, first))
              << n << ' ' << first << ' ' << last << ' ' << block;
        }
      }
    }
  }
}

TEST(Network, BlocksSelectForLargeN) {
  for (const std::size_t n : {16, 17, 100, 115, 128, 300, 1000, 1024}) {
    for (const std::size_t trimmed : {std::size_t{0}, std::size_t{1}, n / 10, n / 7, (n - 1) / 2}) {
      for (const std::size_t block : {8, 16}) {
        const std::size_t first = trimmed, last = n - trimmed;
        const auto network = cpu::block_network(n, first, last, block);
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
          std::vector<std::size_t> numbers = permutation({.seed = seed}, n);
          for (std::size_t& x : numbers) ++x;
          numbers = filled(network, numbers, std::size_t{0}, n + 1, block);
          ASSERT_NO_FATAL_FAILURE(apply(network, block, numbers));
          const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(network.below + first);
          std::sort(begin, begin + static_cast<std::ptrdiff_t>(last - first));
          for (std::size_t i = first; i < last; ++i) {
            ASSERT_EQ(numbers[network.below + i], i + 1) << n << ' ' << trimmed << ' ' << block;
          }
        }
      }
    }
  }
}

// Seven blocks of which the least and the largest matter: three pairs, then three steps at each
// end, since the odd block is at both.
TEST(Network, TrimmingABlockAtEachEndIsATournament) {
  const auto network = cpu::block_network(100, 10, 90, 16);
  EXPECT_EQ(network.below, 6U);
  EXPECT_EQ(network.rows, 112U);
  EXPECT_EQ(network.steps.size(), 9U);
  EXPECT_LT(network.work, 600U);
  EXPECT_TRUE(cpu::block_network(64, 0, 64, 16).steps.empty());
}

TEST(Network, DropsComparisonsNobodyNeeds) {
  EXPECT_TRUE(cpu::selection_network(64, 0, 64).empty());
  EXPECT_EQ(cpu::selection_network(2, 0, 1).size(), 1U);
  EXPECT_LT(cpu::selection_network(115, 57, 58).size(), 1250U);
}

}  // namespace
}  // namespace boba::testing
