// Rows as a server holds them: each in a buffer of its own, at any address.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "boba/core/random.h"
#include "boba/core/views.h"

namespace boba::testing {

template <class T>
class Rows {
 public:
  Rows(std::size_t n, std::size_t d) : d_(d) {
    for (std::size_t i = 0; i < n; ++i) {
      // Not aligned to a vector, nor two rows alike.
      offsets_.push_back(1 + i % 5);
      buffers_.emplace_back(offsets_[i] + d);
    }
    point();
  }
  Rows(const Rows& other) : d_(other.d_), offsets_(other.offsets_), buffers_(other.buffers_) {
    point();
  }
  Rows& operator=(const Rows&) = delete;

  std::size_t rows() const { return buffers_.size(); }
  std::size_t length() const { return d_; }
  std::span<T> operator[](std::size_t i) { return {buffers_[i].data() + offsets_[i], d_}; }
  std::span<const T> operator[](std::size_t i) const {
    return {buffers_[i].data() + offsets_[i], d_};
  }
  UpdateView view() const { return {std::span<const T* const>(table_), d_}; }

  // Bit for bit.
  bool same_as(const Rows& other) const {
    for (std::size_t i = 0; i < rows(); ++i) {
      if (d_ != 0 && std::memcmp((*this)[i].data(), other[i].data(), d_ * sizeof(T)) != 0) {
        return false;
      }
    }
    return rows() == other.rows() && d_ == other.d_;
  }

 private:
  void point() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      table_.push_back(buffers_[i].data() + offsets_[i]);
    }
  }

  std::size_t d_;
  std::vector<std::size_t> offsets_;
  std::vector<std::vector<T>> buffers_;
  std::vector<const T*> table_;
};

// Integers in [-8, 8]: sums of their products are exact in every type and order.
template <class T>
Rows<T> integer_rows(std::size_t n, std::size_t d, std::uint32_t client = 0) {
  Rows<T> rows(n, d);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t state = (i + 1) * 0x9E3779B97F4A7C15 + client;
    for (T& x : rows[i]) {
      state = state * 6364136223846793005 + 1442695040888963407;
      x = static_cast<T>(static_cast<int>((state >> 40) % 17) - 8);
    }
  }
  return rows;
}

// size * (common + normal numbers); the common part is one vector for all rows.
template <class T>
Rows<T> normal_rows(std::size_t n, std::size_t d, double size = 1, double common = 0) {
  Rows<T> rows(n, d);
  for (std::size_t i = 0; i < n; ++i) {
    const StreamKey key{.seed = 7, .round = static_cast<std::uint32_t>(i)};
    for (std::size_t k = 0; k < d; ++k) {
      const double shared = common == 0 ? 0 : common * normal_at({.seed = 8}, k);
      rows[i][k] = static_cast<T>(size * (shared + normal_at(key, k)));
    }
  }
  return rows;
}

// Numbers a client may send to do harm; the first three are not finite.
template <class T>
std::vector<T> hostile_numbers() {
  using Limits = std::numeric_limits<T>;
  return {Limits::quiet_NaN(),
          Limits::infinity(),
          -Limits::infinity(),
          Limits::max(),
          -Limits::max(),
          Limits::denorm_min(),
          T{-0.0}};
}

// Places of a row where loops begin and end.
inline std::vector<std::size_t> interesting_places(std::size_t d) {
  std::vector<std::size_t> places;
  for (const std::size_t k : {0, 1, 7, 8, 15, 16, 31, 32, 511, 512, 1023, 1024}) {
    if (k + 1 < d) places.push_back(k);
  }
  places.push_back(d - 1);
  return places;
}

inline bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace boba::testing
