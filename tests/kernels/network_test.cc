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

TEST(Network, DropsComparisonsNobodyNeeds) {
  EXPECT_TRUE(cpu::selection_network(64, 0, 64).empty());
  EXPECT_EQ(cpu::selection_network(2, 0, 1).size(), 1U);
  EXPECT_LT(cpu::selection_network(115, 57, 58).size(), 1250U);
}

}  // namespace
}  // namespace boba::testing
