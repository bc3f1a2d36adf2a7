// Numbers of about 130 digits for the oracle of the hunt, inner products without any rounding, and
// the little linear algebra that the rules' definitions need.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/rules_round.h"

namespace boba::hunt {

using Big = mpf_class;

using test::Row;
using test::Rows;

// Rounded to double; beyond its range infinity or 0.
double to_double(const Big& value);

// The square root; 0 of what the last digits made negative.
Big root_of(const Big& value);

struct BigMatrix {
  BigMatrix() = default;
  BigMatrix(std::size_t height, std::size_t width)
      : rows(height), columns(width), values(height * width) {}
  Big& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
  const Big& operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }

  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<Big> values;
};

// A row as whole numbers times powers of two, made once for many products.
class ExactRow {
 public:
  explicit ExactRow(const Row& row);

  struct Digit {
    std::size_t column;
    std::int64_t mantissa;  // with its sign, below 2^53
    int exponent;
  };
  const std::vector<Digit>& digits() const { return digits_; }  // of the numbers other than 0

 private:
  std::vector<Digit> digits_;
};

// The sum of products as it is, rounded once at the end.
Big exact_dot(const ExactRow& a, const ExactRow& b);

// Eigenvalues, falling, and in column k of vectors the eigenvector of values[k], by Jacobi's
// rotations to about 40 digits of the largest.
struct BigEigen {
  std::vector<Big> values;
  BigMatrix vectors;
};
BigEigen eigen(BigMatrix symmetric);

}  // namespace boba::hunt
