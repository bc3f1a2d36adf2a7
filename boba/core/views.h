// Views of rows, and containers for rows.
//
// Row i is client i's update, d is its length. Each row is contiguous, but rows need not be
// adjacent: a server receives each in its own buffer. float32 or float64.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace boba {

enum class DType : std::uint8_t { kFloat32, kFloat64 };

std::string_view name(DType dtype);

template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double>;

template <Element T>
inline constexpr DType kDType = std::same_as<T, float> ? DType::kFloat32 : DType::kFloat64;

// Calls body(T{}) with the element type that dtype names.
template <class Body>
decltype(auto) visit(DType dtype, Body&& body) {
  return dtype == DType::kFloat32 ? body(float{}) : body(double{});
}

// Read-only rows. The pointer table and the rows must outlive the view.
class UpdateView {
 public:
  UpdateView() = default;

  template <Element T>
  UpdateView(std::span<const T* const> rows, std::size_t length)
      : table_(rows.data()), rows_(rows.size()), length_(length), dtype_(kDType<T>) {}

  std::size_t rows() const { return rows_; }
  std::size_t length() const { return length_; }
  DType dtype() const { return dtype_; }
  bool empty() const { return rows_ == 0; }

  // REQUIRES: T is the type of the rows and i < rows().
  template <Element T>
  const T* row(std::size_t i) const {
    return static_cast<const T* const*>(table_)[i];
  }

 private:
  const void* table_ = nullptr;  // T const* const*, T by dtype_
  std::size_t rows_ = 0;
  std::size_t length_ = 0;
  DType dtype_ = DType::kFloat32;
};

// One writable row: the output of an aggregation, a Byzantine update, a point in parameter space.
class MutableRow {
 public:
  MutableRow() = default;

  template <Element T>
  MutableRow(std::span<T> data) : data_(data.data()), length_(data.size()), dtype_(kDType<T>) {}

  std::size_t length() const { return length_; }
  DType dtype() const { return dtype_; }

  // REQUIRES: T is the type of the row.
  template <Element T>
  std::span<T> as() const {
    return {static_cast<T*>(data_), length_};
  }

 private:
  void* data_ = nullptr;
  std::size_t length_ = 0;
  DType dtype_ = DType::kFloat32;
};

// Owns a table of row pointers: selects and joins rows of views without copying their numbers.
class RowList {
 public:
  RowList() = default;
  RowList(DType dtype, std::size_t length) : length_(length), dtype_(dtype) {}
  explicit RowList(const UpdateView& rows) : RowList(rows.dtype(), rows.length()) { add(rows); }

  // REQUIRES: the same type and length as the list.
  void add(const UpdateView& rows);
  void add(const UpdateView& rows, std::size_t i);
  void add(const MutableRow& row);

  std::size_t rows() const { return f32_.size() + f64_.size(); }
  UpdateView view() const;

  // The columns [first, first + length) of every row.
  RowList columns(std::size_t first, std::size_t length) const;

 private:
  std::vector<const float*> f32_;
  std::vector<const double*> f64_;
  std::size_t length_ = 0;
  DType dtype_ = DType::kFloat32;
};

// Owns n rows of length d, each aligned to 64 bytes, with zeros at first. Kernels::make_rows makes
// them in the memory that its passes read.
class UpdateMatrix {
 public:
  UpdateMatrix() = default;
  UpdateMatrix(DType dtype, std::size_t rows, std::size_t length);
  // In memory of another kind: row i begins i * stride bytes after the first.
  UpdateMatrix(DType dtype, std::size_t rows, std::size_t length, std::shared_ptr<void> memory,
               std::size_t stride);
  // It cannot be copied by accident, because views point into it.
  UpdateMatrix(UpdateMatrix&&) = default;
  UpdateMatrix& operator=(UpdateMatrix&&) = default;

  std::size_t rows() const { return rows_; }
  std::size_t length() const { return length_; }
  DType dtype() const { return dtype_; }

  MutableRow row(std::size_t i);

  template <Element T>
  std::span<T> row_as(std::size_t i) {
    return row(i).as<T>();
  }

  // Valid while the matrix lives and is not moved from.
  UpdateView view() const { return table_.view(); }

 private:
  std::shared_ptr<void> memory_;
  std::size_t stride_ = 0;  // bytes from row to row
  RowList table_;
  std::size_t rows_ = 0;
  std::size_t length_ = 0;
  DType dtype_ = DType::kFloat32;
};

}  // namespace boba
