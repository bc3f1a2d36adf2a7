#include "boba/algebra/loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "boba/core/random.h"

namespace boba::algebra {
namespace {

std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = normal_at({.seed = seed}, i);
  return values;
}

std::vector<const Loops*> levels() {
  std::vector<const Loops*> all;
  for (const LoopLevel level : {LoopLevel::kBaseline, LoopLevel::kAvx2}) {
    if (const Loops* table = loops_of(level)) all.push_back(table);
  }
  return all;
}

TEST(Loops, TheWidestLevelIsUsed) {
  ASSERT_FALSE(levels().empty());
  EXPECT_EQ(loops().name, levels().back()->name);
}

// The sum in the order of inner, each product rounded before it is added.
double element(const StridedMatrix& a, const std::vector<double>& b, std::size_t b_stride,
               std::size_t i, std::size_t j, std::size_t inner) {
  double sum = 0;
  for (std::size_t k = 0; k < inner; ++k) {
    const volatile double product = a.data[i * a.row + k * a.column] * b[k * b_stride + j];
    sum += product;
  }
  return sum;
}

TEST(Loops, MultiplyGivesTheBitsOfAPlainLoopAtEveryLevel) {
  for (const std::size_t rows : {1, 2, 3, 4, 5, 11}) {
    for (const std::size_t inner : {0, 1, 2, 9, 33}) {
      for (const std::size_t columns : {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 25}) {
        const std::vector<double> left = numbers(rows * (inner + 1), 1);
        const std::vector<double> right = numbers(inner * (columns + 2), 2);
        for (const bool transposed : {false, true}) {
          const StridedMatrix a = transposed ? StridedMatrix{left.data(), 1, rows}
                                             : StridedMatrix{left.data(), inner + 1, 1};
          for (const Loops* table : levels()) {
            // One place more than needed in each row, which must stay as it is.
            std::vector<double> out(rows * (columns + 1), -7.5);
            table->multiply(a, right.data(), columns + 2, out.data(), columns + 1, rows, inner,
                            columns);
            for (std::size_t i = 0; i < rows; ++i) {
              for (std::size_t j = 0; j < columns; ++j) {
                ASSERT_EQ(out[i * (columns + 1) + j], element(a, right, columns + 2, i, j, inner))
                    << table->name << " " << rows << " " << inner << " " << columns;
              }
              ASSERT_EQ(out[i * (columns + 1) + columns], -7.5);
            }
          }
        }
      }
    }
  }
}

TEST(Loops, ApplyGivesTheSameBitsAtEveryLevel) {
  for (const std::size_t rows : {1, 3, 4, 6, 9}) {
    for (const std::size_t columns : {0, 1, 7, 8, 9, 16, 31, 99}) {
      const std::size_t stride = columns + 1;
      const std::vector<double> m = numbers(rows * stride, 3);
      const std::vector<double> x = numbers(columns, 4);
      std::vector<double> first;
      for (const Loops* table : levels()) {
        std::vector<double> out(rows + 1, -7.5);
        table->apply(m.data(), stride, x.data(), out.data(), rows, columns);
        EXPECT_EQ(out[rows], -7.5);
        for (std::size_t i = 0; i < rows; ++i) {
          double sum = 0;
          double size = 0;
          for (std::size_t k = 0; k < columns; ++k) {
            sum += m[i * stride + k] * x[k];
            size += std::abs(m[i * stride + k] * x[k]);
          }
          EXPECT_NEAR(out[i], sum, 1e-15 * static_cast<double>(columns) * size);
        }
        if (first.empty()) first = out;
        EXPECT_EQ(out, first) << table->name << " " << rows << " " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace boba::algebra
