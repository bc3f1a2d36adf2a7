#include "tests/hunt/big.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace boba::hunt {
namespace {

constexpr mp_bitcnt_t kBits = 448;
[[maybe_unused]] const bool kReady = (mpf_set_default_prec(kBits), true);

__extension__ using Wide = unsigned __int128;

// The sum as a number of fixed point that holds any product of two doubles: 32 bits in each of the
// limbs, with room for carries.
class LongSum {
 public:
  void add(const ExactRow::Digit& a, const ExactRow::Digit& b) {
    const bool negative = (a.mantissa < 0) != (b.mantissa < 0);
    const Wide product =
        static_cast<Wide>(std::abs(a.mantissa)) * static_cast<Wide>(std::abs(b.mantissa));
    const int bit = a.exponent + b.exponent + kLowest;
    add_word(static_cast<std::uint64_t>(product), bit, negative);
    const auto high = static_cast<std::uint64_t>(product >> 64);
    if (high != 0) add_word(high, bit + 64, negative);
  }

  Big value() {
    carry();
    const bool negative = limbs_.back() < 0;
    if (negative) {
      for (std::int64_t& limb : limbs_) limb = -limb;
      carry();
    }
    Big sum = 0;
    Big term;
    int left = static_cast<int>(kBits) / 32 + 2;  // limbs that can matter
    for (std::size_t i = limbs_.size(); i-- > 0 && left > 0;) {
      if (limbs_[i] == 0 && left == static_cast<int>(kBits) / 32 + 2) continue;
      --left;
      if (limbs_[i] == 0) continue;
      term = static_cast<double>(limbs_[i]);
      const int shift = 32 * static_cast<int>(i) - kLowest;
      if (shift >= 0) {
        mpf_mul_2exp(term.get_mpf_t(), term.get_mpf_t(), static_cast<mp_bitcnt_t>(shift));
      } else {
        mpf_div_2exp(term.get_mpf_t(), term.get_mpf_t(), static_cast<mp_bitcnt_t>(-shift));
      }
      sum += term;
    }
    if (negative) sum = -sum;
    return sum;
  }

 private:
  static constexpr int kLowest = 2 * 1074;

  void add_word(std::uint64_t word, int bit, bool negative) {
    const auto at = static_cast<std::size_t>(bit) / 32;
    const Wide shifted = static_cast<Wide>(word) << (static_cast<unsigned>(bit) % 32);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto part = static_cast<std::int64_t>(
          static_cast<std::uint32_t>(shifted >> (32 * static_cast<unsigned>(k))));
      limbs_[at + k] += negative ? -part : part;
    }
  }

  void carry() {
    for (std::size_t i = 0; i + 1 < limbs_.size(); ++i) {
      const std::int64_t over = limbs_[i] >> 32;
      limbs_[i] -= over * (std::int64_t{1} << 32);
      limbs_[i + 1] += over;
    }
  }

  std::array<std::int64_t, 140> limbs_ = {};
};

// One of Jacobi's rotations, in the plane of p and q; work are two numbers to calculate with.
void rotate(BigMatrix& a, BigMatrix& v, std::size_t p, std::size_t q, Big& x, Big& y) {
  const std::size_t n = a.rows;
  const Big theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const Big root = sqrt(theta * theta + 1);
  const Big t = theta >= 0 ? Big(1 / (theta + root)) : Big(1 / (theta - root));
  const Big c = 1 / sqrt(t * t + 1);
  const Big s = t * c;
  const auto turn = [&](Big& first, Big& second) {
    x = c * first;
    y = s * second;
    x -= y;
    first *= s;
    second *= c;
    second += first;
    first = x;
  };
  const Big moved = t * a(p, q);
  a(p, p) -= moved;
  a(q, q) += moved;
  a(p, q) = 0;
  a(q, p) = 0;
  for (std::size_t k = 0; k < n; ++k) {
    turn(v(k, p), v(k, q));
    if (k == p || k == q) continue;
    turn(a(k, p), a(k, q));
    a(p, k) = a(k, p);
    a(q, k) = a(k, q);
  }
}

}  // namespace

double to_double(const Big& value) {
  long exponent = 0;
  const double mantissa = mpf_get_d_2exp(&exponent, value.get_mpf_t());
  return std::ldexp(mantissa, static_cast<int>(std::clamp(exponent, -5000L, 5000L)));
}

Big root_of(const Big& value) { return value > 0 ? Big(sqrt(value)) : Big(0); }

ExactRow::ExactRow(const Row& row) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] == 0) continue;
    int exponent = 0;
    const double mantissa = std::frexp(row[k], &exponent);
    // Denormal numbers have fewer digits: none lies below 2^-1074.
    const int bits = std::min(53, exponent + 1074);
    const auto whole = static_cast<std::int64_t>(std::ldexp(mantissa, bits));
    // Without the zeros at the end, products of float32 numbers fit one word.
    const int zeros = std::countr_zero(static_cast<std::uint64_t>(whole));
    digits_.push_back({k, whole / (std::int64_t{1} << zeros), exponent - bits + zeros});
  }
}

Big exact_dot(const ExactRow& a, const ExactRow& b) {
  LongSum sum;
  auto other = b.digits().begin();
  for (const ExactRow::Digit& digit : a.digits()) {
    while (other != b.digits().end() && other->column < digit.column) ++other;
    if (other == b.digits().end()) break;
    if (other->column == digit.column) sum.add(digit, *other);
  }
  return sum.value();
}

BigEigen eigen(BigMatrix a) {
  const std::size_t n = a.rows;
  BigMatrix v(n, n);
  for (std::size_t i = 0; i < n; ++i) v(i, i) = 1;
  Big trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += abs(a(i, i));
  Big small = trace;
  mpf_div_2exp(small.get_mpf_t(), small.get_mpf_t(), 140);
  Big x;
  Big y;
  for (bool again = trace > 0; again;) {
    again = false;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        x = abs(a(p, q));
        if (x <= small) continue;
        rotate(a, v, p, q, x, y);
        again = true;
      }
    }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a(i, i) > a(j, j); });
  BigEigen result;
  result.vectors = BigMatrix(n, n);
  for (std::size_t k = 0; k < n; ++k) {
    result.values.push_back(a(order[k], order[k]));
    for (std::size_t i = 0; i < n; ++i) result.vectors(i, k) = v(i, order[k]);
  }
  return result;
}

}  // namespace boba::hunt
