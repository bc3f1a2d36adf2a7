#include "boba/core/views.h"

#include <cassert>
#include <stdexcept>
#include <utility>

#include "boba/core/size.h"

namespace boba {

std::string_view name(DType dtype) { return dtype == DType::kFloat32 ? "float32" : "float64"; }

void RowList::add(const UpdateView& rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) add(rows, i);
}

void RowList::add(const UpdateView& rows, std::size_t i) {
  assert(rows.dtype() == dtype_ && rows.length() == length_);
  if (dtype_ == DType::kFloat32) {
    f32_.push_back(rows.row<float>(i));
  } else {
    f64_.push_back(rows.row<double>(i));
  }
}

void RowList::add(const MutableRow& row) {
  assert(row.dtype() == dtype_ && row.length() == length_);
  if (dtype_ == DType::kFloat32) {
    f32_.push_back(row.as<float>().data());
  } else {
    f64_.push_back(row.as<double>().data());
  }
}

UpdateView RowList::view() const {
  if (dtype_ == DType::kFloat32) return {std::span<const float* const>(f32_), length_};
  return {std::span<const double* const>(f64_), length_};
}

RowList RowList::columns(std::size_t first, std::size_t length) const {
  assert(first + length <= length_);
  RowList part(dtype_, length);
  for (const float* row : f32_) part.f32_.push_back(row + first);
  for (const double* row : f64_) part.f64_.push_back(row + first);
  return part;
}

namespace {

struct alignas(64) Line {
  std::byte bytes[64];
};

std::size_t lines_of(DType dtype, std::size_t length) {
  return (length * width_of(dtype) + sizeof(Line) - 1) / sizeof(Line);
}

std::shared_ptr<void> zero_lines(DType dtype, std::size_t rows, std::size_t length) {
  // A count that wrapped around would be a matrix with too little memory.
  if (Result<void> good = check_size("matrix", dtype, rows, length); !good) {
    throw std::length_error(good.error().message);
  }
  auto lines = std::make_shared<std::vector<Line>>(rows * lines_of(dtype, length));
  Line* const first = lines->data();
  return {std::move(lines), first};
}

}  // namespace

UpdateMatrix::UpdateMatrix(DType dtype, std::size_t rows, std::size_t length)
    : UpdateMatrix(dtype, rows, length, zero_lines(dtype, rows, length),
                   lines_of(dtype, length) * sizeof(Line)) {}

UpdateMatrix::UpdateMatrix(DType dtype, std::size_t rows, std::size_t length,
                           std::shared_ptr<void> memory, std::size_t stride)
    : memory_(std::move(memory)),
      stride_(stride),
      table_(dtype, length),
      rows_(rows),
      length_(length),
      dtype_(dtype) {
  for (std::size_t i = 0; i < rows; ++i) table_.add(row(i));
}

MutableRow UpdateMatrix::row(std::size_t i) {
  assert(i < rows_);
  void* start = static_cast<std::byte*>(memory_.get()) + i * stride_;
  return visit(dtype_, [&](auto zero) {
    using T = decltype(zero);
    return MutableRow(std::span<T>(static_cast<T*>(start), length_));
  });
}

}  // namespace boba
