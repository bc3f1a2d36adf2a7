// Rows in the GPU's memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "boba/core/result.h"
#include "boba/core/views.h"

namespace boba {

// Owns n rows of length d, each aligned to 256 bytes, zero to begin with. Its views hold pointers
// that only the GPU follows.
class DeviceMatrix {
 public:
  // Fails where boba was built without CUDA, and where the GPU has no memory left.
  static Result<DeviceMatrix> make(DType dtype, std::size_t rows, std::size_t length,
                                   int device = 0);
  DeviceMatrix();
  ~DeviceMatrix();
  DeviceMatrix(DeviceMatrix&&) noexcept;
  DeviceMatrix& operator=(DeviceMatrix&&) noexcept;

  std::size_t rows() const { return rows_; }
  std::size_t length() const { return table_.view().length(); }
  MutableRow row(std::size_t i) const;
  // Valid while the matrix lives and is not moved from.
  UpdateView view() const { return table_.view(); }

  // Copies a row from the host's memory, or to it. REQUIRES: the matrix's type and length.
  Result<void> put(std::size_t i, const UpdateView& from, std::size_t row);
  Result<void> get(std::size_t i, MutableRow to) const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
  RowList table_;
  std::size_t rows_ = 0;
};

}  // namespace boba
