// NumPy's .npy files: versions 1.0, 2.0 and 3.0, little-endian float32 or float64, C order.
//
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "boba/core/views.h"
#include "tools/file.h"

namespace boba::tools {

// Where the rows of a file lie. A 1-D array is one row.
struct NpyLayout {
  DType dtype = DType::kFloat32;
  std::size_t rows = 0;
  std::size_t length = 0;
  std::size_t data_offset = 0;
};

// Reads the header of a whole file. The result's rows lie inside the bytes, at an offset that is a
// multiple of the element's size. Errors begin with the name and say what was found and expected.
Result<NpyLayout> parse_npy(std::span<const std::byte> file, std::string_view name);

// The beginning of a file with that many rows, data excluded.
std::string npy_header(DType dtype, std::size_t rows, std::size_t length);

// A file's rows, mapped into memory: nothing is copied.
class NpyFile {
 public:
  static Result<NpyFile> open(const std::string& path);

  // Valid while the file lives and is not moved from.
  UpdateView view() const { return table_.view(); }
  // As MappedFile's; asked after the last number was read.
  Result<void> unchanged() const { return file_.unchanged(); }

 private:
  NpyFile(MappedFile file, RowList table) : file_(std::move(file)), table_(std::move(table)) {}

  MappedFile file_;
  RowList table_;
};

// Puts the rows into a file that is still to be committed.
Result<void> write_npy(OutputFile& file, const UpdateView& rows);
// A whole file.
Result<void> write_npy(const std::string& path, const UpdateView& rows);

}  // namespace boba::tools
