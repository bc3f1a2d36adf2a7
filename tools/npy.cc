#include "tools/npy.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

namespace boba::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "rows are mapped, never byte-swapped");

template <Element T>
RowList table_of(const NpyLayout& layout, std::span<const std::byte> file) {
  const T* data = reinterpret_cast<const T*>(file.data() + layout.data_offset);
  std::vector<const T*> rows(layout.rows);
  for (std::size_t i = 0; i < layout.rows; ++i) rows[i] = data + i * layout.length;
  return RowList(UpdateView(std::span<const T* const>(rows), layout.length));
}

}  // namespace

std::string npy_header(DType dtype, std::size_t rows, std::size_t length) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 dtype == DType::kFloat32 ? "<f4" : "<f8", rows, length);
  // Magic, version and length take 10 bytes; the data begins at a multiple of 64.
  const std::size_t unpadded = 10 + dict.size() + 1;
  dict.append((64 - unpadded % 64) % 64, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

Result<NpyFile> NpyFile::open(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  Result<NpyLayout> layout = parse_npy(file->bytes(), path);
  if (!layout) return layout.error();
  RowList table =
      visit(layout->dtype, [&]<Element T>(T) { return table_of<T>(*layout, file->bytes()); });
  return NpyFile(*std::move(file), std::move(table));
}

Result<void> write_npy(OutputFile& file, const UpdateView& rows) {
  const std::string header = npy_header(rows.dtype(), rows.rows(), rows.length());
  Result<void> written = file.write(header);
  return visit(rows.dtype(), [&]<Element T>(T) {
    for (std::size_t i = 0; written && i < rows.rows(); ++i) {
      written = file.write(std::as_bytes(std::span(rows.row<T>(i), rows.length())));
    }
    return written;
  });
}

}  // namespace boba::tools
