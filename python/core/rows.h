// Rows: arrays of Python, seen as the core's rows where they lie.
//
// An array is anything with DLPack or the buffer protocol. Rows whose numbers follow each other in
// memory are not copied; others (Fortran order, a step between numbers) are, once.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "boba/core/views.h"

namespace boba::python {

class Rows {
 public:
  // value: an array with a row per entry of its first axis, or a list or tuple of arrays of one
  // shape, each of them a row. what is how sentences call it. TypeError for what is no array of
  // float32 or float64 in main memory, ValueError for shapes that do not fit together, that no
  // memory can have, or that have none behind them.
  Rows(nanobind::handle value, std::string what);

  // The list of rows and the copies stay where they are: views point into them.
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  UpdateView view() const { return list_.view(); }
  std::size_t rows() const { return list_.rows(); }
  std::size_t length() const { return list_.view().length(); }
  DType dtype() const { return list_.view().dtype(); }
  // The shape of one row; its product is length().
  const std::vector<std::size_t>& shape() const { return shape_; }

  // How many rows had to be copied, and where row i lies; IndexError beyond the last.
  std::size_t copied() const { return copies_.size(); }
  std::uintptr_t address(std::size_t i) const;

 private:
  using Array = nanobind::ndarray<nanobind::ro>;

  void read_matrix(const Array& array);
  void read_list(nanobind::handle value);
  // Before rows of the array are added, so that nothing is copied in vain.
  void check_cost(const Array& array, std::size_t skipped);
  // The numbers of the axes from skipped on, which begin there, are a row.
  void add(const Array& array, std::size_t skipped, const std::byte* begin);

  std::string what_;
  std::vector<std::size_t> shape_;
  std::vector<Array> kept_;          // holds the arrays' memory
  std::deque<UpdateMatrix> copies_;  // one row each
  RowList list_;
  std::size_t repeated_ = 0;  // bytes that arrays which repeat numbers cost
};

// Raises ValueError as Rows does for an array that would be copied; what is no array in main memory
// is left to others.
void check_copied(nanobind::handle value, const std::string& what);

// One row to write to. TypeError where the array is not contiguous and writable memory of the type,
// ValueError where it has another length.
MutableRow writable_row(const nanobind::ndarray<>& array, DType dtype, std::size_t length);

}  // namespace boba::python
